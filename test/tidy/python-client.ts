/** Writes `api.py` and `client.py` of the Python client, generated from the document of the API, for `npm run docs`. */
import { writeFile } from "node:fs/promises";
import type { JsonSchema } from "../../src/api/docs/api-document.ts";
import type { ApiDocument, Operation } from "../../src/api/docs/describe-api.ts";
import { formatPython } from "../python/ruff.ts";
import { ApiContract } from "../support/api-contract.ts";
import { DataServer } from "../support/open-data-server.ts";

type PythonFile = "api.py" | "client.py";

/** Names of methods that do not follow from the operation. They are those of the TypeScript client. */
const methodNames: Readonly<Record<string, string>> = {
  getOrderbook: "order_book",
  getPrometheus: "prometheus_metrics",
};
/** Operations whose answer depends on a parameter: with it the method has another name and another type. */
const variants: Readonly<
  Record<string, { name: string; parameter: string; without: string; given: string }>
> = {
  getPrice: { name: "price_at", parameter: "at", without: "Price", given: "PastPrice" },
  listPrices: { name: "prices_at", parameter: "at", without: "Price", given: "PastPrice" },
};
/** Operations without a method: the stream has its own module, the document describes the others, and files are not text. */
const withoutMethod: ReadonlySet<string> = new Set([
  "openStream",
  "getOpenapi",
  "getLakeManifest",
  "getLakeMarkets",
  "getLakeFile",
]);
const keywords: ReadonlySet<string> = new Set(["from", "global", "class", "in", "is", "not", "or"]);

/** Returns both files. */
export async function formatPythonClient(): Promise<Readonly<Record<PythonFile, string>>> {
  const server = await DataServer.open();
  try {
    const { document } = await ApiContract.read(server);
    return {
      "api.py": formatPython(formatTypes(document)),
      "client.py": formatPython(formatClients(document)),
    };
  } finally {
    await server.close();
  }
}

/** An operation with what its method needs. */
type Method = {
  readonly operation: Operation;
  readonly verb: string;
  readonly path: string;
  readonly name: string;
  /** The prefix of its types. */
  readonly types: string;
  readonly arguments: readonly string[];
  readonly kind: "list" | "data" | "answer" | "text";
  readonly answer: string;
  readonly optional: "query" | "body" | null;
  /** The parameter of a variant. */
  readonly given?: string;
};

/** Collects classes, each after those that it refers to. */
class Types {
  readonly texts: string[] = [];

  /** Returns the type of a schema. `name` becomes the name of its class, if it is an object. */
  toType(schema: JsonSchema, name: string): string {
    const { $ref, type, items, properties, patternProperties, anyOf } = schema;
    if ($ref !== undefined) return getName($ref.replace("#/components/schemas/", ""));
    if (schema.const !== undefined) return `Literal[${JSON.stringify(schema.const)}]`;
    if (schema.enum !== undefined) return `Literal[${schema.enum.map(toLiteral).join(", ")}]`;
    if (anyOf !== undefined) return this.#toUnion(anyOf, name);
    if (Array.isArray(type)) return type.map((one: string) => primitives[one]).join(" | ");
    if (items !== undefined) return `list[${this.toType(items, toSingular(name))}]`;
    if (properties !== undefined) return this.#addClass(schema, name);
    const [pattern] = Object.values(patternProperties ?? {});
    if (pattern !== undefined) return `dict[str, ${this.toType(pattern, `${name}Value`)}]`;
    return primitives[String(type)] ?? "Any";
  }

  /** Adds a `TypedDict`. */
  add(name: string, fields: readonly Field[], description: string | undefined): string {
    const isPlain = fields.every(
      (field) => /^[a-z_]\w*$/i.test(field.name) && !keywords.has(field.name),
    );
    const lines = fields.map((field) => {
      const type = field.isRequired ? field.type : `NotRequired[${field.type}]`;
      return isPlain
        ? `    ${field.name}: ${type}\n`
        : `        ${JSON.stringify(field.name)}: ${type},\n`;
    });
    this.texts.push(
      isPlain
        ? `class ${name}(TypedDict):\n${docstring(description)}${lines.join("")}`
        : `${name} = TypedDict(\n    "${name}",\n    {\n${lines.join("")}    },\n)\n`,
    );
    return name;
  }

  alias(name: string, type: string, description: string | undefined): void {
    const comment = description === undefined ? "" : `#: ${sentence(description)}\n`;
    this.texts.push(`${comment}${name}: TypeAlias = ${type}\n`);
  }

  #addClass({ properties = {}, required = [], description }: JsonSchema, name: string): string {
    const fields = Object.entries(properties).map(([field, schema]) => ({
      name: field,
      type: this.toType(schema, name + pascal(field)),
      isRequired: required.includes(field),
    }));
    return this.add(name, fields, description);
  }

  #toUnion(all: readonly JsonSchema[], name: string): string {
    const isNullable = all.length === 2 && all.some(({ type }) => type === "null");
    const types = all.map((one) => this.toType(one, isNullable ? name : name + getSuffix(one)));
    return [...new Set(types)].join(" | ");
  }
}

type Field = { readonly name: string; readonly type: string; readonly isRequired: boolean };

function formatTypes({ components, paths }: ApiDocument): string {
  const types = new Types();
  const isPrimitive = ({ properties, anyOf }: JsonSchema) =>
    properties === undefined && anyOf === undefined;
  const schemas = Object.entries(components.schemas);
  const ordered = [
    ...schemas.filter(([, schema]) => isPrimitive(schema)),
    ...schemas.filter(([, schema]) => !isPrimitive(schema)),
  ];
  for (const [component, schema] of ordered) {
    const name = getName(component);
    if (schema.properties !== undefined) types.toType(schema, name);
    else types.alias(name, types.toType(schema, name), schema.description);
  }
  const operations = new Map(getMethods(paths).map((method) => [method.types, method]));
  for (const method of operations.values()) addOperation(types, method);
  types.alias("StreamFrame", streamFrames.join(" | "), "A frame that a stream yields");
  return `${introduction}\n\n${types.texts.join("\n\n")}`;
}

/** Adds the classes of the query, the body and the answer of an operation. */
function addOperation(types: Types, { operation, types: name, optional }: Method): void {
  const answer = getAnswer(operation);
  const data = answer?.properties?.["data"];
  if (data?.items !== undefined) types.toType(data.items, `${name}Row`);
  else if (data !== undefined) types.toType(data, `${name}Data`);
  else if (answer !== null) types.toType(answer, `${name}Answer`);
  const line = `The optional parameters of ${operation.operationId}`;
  if (optional === "query") {
    const fields = optionalQuery(operation).map((parameter) => ({
      name: parameter.name,
      type: toInputType(parameter.schema),
      isRequired: false,
    }));
    types.add(`${name}Query`, fields, line);
  }
  if (optional === "body") {
    const { properties = {}, required = [] } = getBody(operation) ?? {};
    const fields = Object.entries(properties).map(([field, schema]) => ({
      name: field,
      type: toInputType(schema),
      isRequired: required.includes(field),
    }));
    types.add(`${name}Body`, fields, `The body of ${operation.operationId}`);
  }
}

function getMethods(paths: ApiDocument["paths"]): readonly Method[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs)
      .filter(([, { operationId }]) => !withoutMethod.has(operationId))
      .flatMap(([verb, operation]) => withVariant(toMethod(path, verb.toUpperCase(), operation))),
  );
}

/** Returns a method, and if its answer depends on a parameter, one without and one with that parameter. */
function withVariant(method: Method): readonly Method[] {
  const { operation } = method;
  const variant = variants[operation.operationId];
  if (variant === undefined) return [method];
  const { name, parameter, without, given } = variant;
  const isList = getAnswer(operation)?.properties?.["data"]?.items !== undefined;
  const toAnswer = (type: string) => (isList ? `list[api.${type}]` : `api.${type}`);
  const found = getParameters(operation).find((one) => one.name === parameter);
  const argument = `${parameter}: ${found === undefined ? "str" : toInputType(found.schema)}`;
  return [
    { ...method, answer: toAnswer(without) },
    {
      ...method,
      name,
      arguments: [...method.arguments, argument],
      answer: toAnswer(given),
      given: parameter,
    },
  ];
}

function toMethod(path: string, verb: string, operation: Operation): Method {
  const { operationId } = operation;
  const types = pascal(operationId);
  const answer = getAnswer(operation);
  const data = answer?.properties?.["data"];
  const parameters = getParameters(operation);
  const isPaged = data?.items !== undefined && parameters.some(({ name }) => name === "limit");
  const row = `api.${getComponent(data?.items) ?? `${types}Row`}`;
  const shapes = {
    list: row,
    data:
      data?.items === undefined ? `api.${getComponent(data) ?? `${types}Data`}` : `list[${row}]`,
    answer: `api.${types}Answer`,
    text: "str",
  };
  const kind = answer === null ? "text" : data === undefined ? "answer" : isPaged ? "list" : "data";
  const required = parameters.filter((one) => one.in === "path" || one.required);
  const hasQuery = optionalQuery(operation).length > 0;
  return {
    operation,
    verb,
    path,
    name: methodNames[operationId] ?? snake(operationId.replace(/^(get|list)/, "")),
    types,
    arguments: required.map(({ name, schema }) => `${name}: ${toInputType(schema)}`),
    kind,
    answer: shapes[kind],
    optional: getBody(operation) !== null ? "body" : hasQuery ? "query" : null,
  };
}

function formatClients({ paths }: ApiDocument): string {
  const methods = getMethods(paths);
  const sync = methods.map((method) => formatMethod(method, false));
  const asynchronous = methods.map((method) => formatMethod(method, true));
  return clientModule
    .replace("# methods", sync.join("\n"))
    .replace("# async methods", asynchronous.join("\n"));
}

function formatMethod(method: Method, isAsync: boolean): string {
  const { operation, name, types, kind, answer, optional, verb } = method;
  const rest = optional === null ? [] : [`**${optional}: Unpack[api.${types}${pascal(optional)}]`];
  const pages = isAsync ? "AsyncPages" : "Pages";
  const type = kind === "list" ? `${pages}[${answer}]` : answer;
  const head = `${isAsync && kind !== "list" ? "async " : ""}def ${name}`;
  const lines = [
    `    ${head}(${["self", ...method.arguments, ...rest].join(", ")}) -> ${type}:`,
    `        """${sentence(getNote(operation))}"""`,
  ];
  const query = formatQuery(method);
  if (kind === "list")
    return [
      ...lines,
      `        return ${pages}(self._http, ${formatPath(method)}, ${query})\n`,
    ].join("\n");
  const call = [
    formatPath(method),
    ...(query === "{}" ? [] : [query]),
    ...(verb === "GET" ? [] : [`method="${verb}"`]),
    ...(optional === "body" ? ["body=body"] : []),
    ...("503" in operation.responses && operation.operationId === "getReady"
      ? ["accepted=(503,)"]
      : []),
  ].join(", ");
  const read = { text: "text", data: "data", answer: "json" }[kind];
  const dataType = kind === "data" ? `, ${answer.startsWith("list[") ? "list" : "dict"}` : "";
  const sent = `${isAsync ? "await " : ""}self._http.${read}(Call(${call})${dataType})`;
  if (kind === "text") return [...lines, `        return ${sent}\n`].join("\n");
  return [...lines, `        answer: ${answer} = ${sent}`, "        return answer\n"].join("\n");
}

function formatQuery({ operation, optional, given }: Method): string {
  const required = getParameters(operation)
    .filter((one) => one.in === "query" && (one.required || one.name === given))
    .map(({ name }) => `"${name}": ${name}`);
  if (optional !== "query") return `{${required.join(", ")}}`;
  return required.length === 0 ? "query" : `{${required.join(", ")}, **query}`;
}

function formatPath({ path }: Method): string {
  return path.includes("{") ? `f"${path.replaceAll(/\{(\w+)\}/g, "{segment($1)}")}"` : `"${path}"`;
}

type Parameter = Exclude<Operation["parameters"][number], { readonly $ref: string }>;

function getParameters({ parameters }: Operation): readonly Parameter[] {
  return parameters.flatMap((one) => ("$ref" in one ? [] : [one]));
}

/** Returns what a method accepts by name. Pages and files set the cursor and the format. */
function optionalQuery(operation: Operation): readonly Parameter[] {
  return getParameters(operation).filter(
    ({ in: place, required, name }) =>
      place === "query" &&
      !required &&
      name !== "cursor" &&
      name !== "format" &&
      name !== variants[operation.operationId]?.parameter,
  );
}

function getBody({ requestBody }: Operation): JsonSchema | null {
  return requestBody?.content["application/json"]?.schema ?? null;
}

/** Returns the schema of the JSON that an operation returns; `null` if it returns other text. */
function getAnswer({ responses }: Operation): JsonSchema | null {
  const answer = responses["200"] ?? responses["201"];
  if (answer === undefined || "$ref" in answer) return null;
  return answer.content["application/json"]?.schema ?? null;
}

/** Returns the Python types that are accepted for an input: times and decimals also as such. */
function toInputType(schema: JsonSchema): string {
  const { type, items, pattern = "" } = schema;
  if (schema.enum !== undefined) return `Literal[${schema.enum.map(toLiteral).join(", ")}]`;
  if (items !== undefined) return `Sequence[${toInputType(items)}]`;
  if (Array.isArray(type)) return "str | int | datetime";
  if (type === "string" && pattern.includes("\\.[0-9]{1,6}")) return "str | Decimal";
  return primitives[String(type)] ?? "str";
}

const primitives: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

function toLiteral(value: unknown): string {
  return value === null ? "None" : JSON.stringify(value);
}

/** The name of a component. Some names have another meaning in Python. */
function getName(component: string): string {
  return { Error: "ErrorAnswer", Decimal: "DecimalText" }[component] ?? component;
}

function getComponent(schema: JsonSchema | undefined): string | undefined {
  return schema?.$ref?.split("/").at(-1);
}

function getSuffix({ properties = {}, type }: JsonSchema): string {
  const kind = properties["event"]?.const;
  return typeof kind === "string" ? pascal(kind) : pascal(String(type ?? "Other"));
}

function toSingular(name: string): string {
  return name.endsWith("s") ? name.slice(0, -1) : name;
}

function pascal(name: string): string {
  return name
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

function snake(name: string): string {
  return name.replaceAll(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** Returns what an operation does, without what the document adds about keys, caches and formats. */
function getNote({ description, summary }: Operation): string {
  return (
    (description ?? summary).split(/ (?=Needs |Responses may |`format` exports )/)[0] ?? summary
  );
}

function docstring(description: string | undefined): string {
  return description === undefined ? "" : `    """${sentence(description)}"""\n\n`;
}

function sentence(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll("\\", "\\\\").replaceAll('"""', "'''");
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

/** The frames that a stream passes on to its reader. */
const streamFrames = [
  "StreamEvent",
  "StreamSnapshot",
  "StreamReorg",
  "StreamFinalized",
  "StreamReplayComplete",
  "StreamHeartbeat",
];

const introduction = `"""
The shapes of the API, made from the schemas that the service runs on by \`npm run docs\`; a test compares the two.

Decimals, token ids and raw amounts are text, so that no digit is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict`;

const clientModule = `"""The clients. Their methods are made from the document of the API by \`npm run docs\`; a test compares the two."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Unpack

import httpx

from . import api
from .backoff import Backoff
from .http import AsyncHttp, Call, Http, Options, segment
from .local_book import LocalBook
from .pages import AsyncPages, Pages
from .stream import Stream, StreamState


class Client:
    """
    A client of the service, with one method for each endpoint. Lists are iterated and read page by page. Errors are
    \`\`OddwireError\`\`. Use it in a \`\`with\`\` statement, or close it.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        backoff: Backoff | None = None,
        timeout: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """
        \`\`timeout\`\` is in seconds, for each attempt. \`\`transport\`\` replaces the connections of httpx, to add a proxy or
        certificates.
        """
        self._http = Http(Options(url, key, backoff or Backoff(), timeout), transport)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

# methods

class AsyncClient:
    """The client for asyncio, with the methods of \`\`Client\`\` and the stream. Use it in \`\`async with\`\`, or close it."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        backoff: Backoff | None = None,
        timeout: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Make a client as \`\`Client\`\` does."""
        self._options = Options(url, key, backoff or Backoff(), timeout)
        self._http = AsyncHttp(self._options, transport)

    async def close(self) -> None:
        """Close the connections. Streams have their own and end when they are left."""
        await self._http.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def stream(
        self,
        channel: Mapping[str, object],
        *,
        resume_from: int | None = None,
        position_file: str | os.PathLike[str] | None = None,
        snapshot: int | None = None,
        allow_gap: bool = False,
        on_state: Callable[[StreamState], None] | None = None,
    ) -> Stream[api.StreamFrame]:
        """
        Follow a channel, such as \`\`{"type": "trades"}\`\`.

        With \`\`resume_from\`\` everything after that \`\`seq\`\` comes first; 0 is the beginning. A \`\`position_file\`\` keeps the
        position over restarts, and if it exists it counts instead. \`\`snapshot\`\` begins with that many rows, at most 500.
        \`\`allow_gap\`\` resumes from before the first indexed block, although rows in between are missing. \`\`on_state\`\` is
        called whenever the state changes.
        """
        return Stream(
            self._options,
            channel,
            resume_from=resume_from,
            position_file=position_file,
            snapshot=snapshot,
            allow_gap=allow_gap,
            on_state=on_state,
        )

    async def follow_book(self, token_id: str) -> AsyncIterator[LocalBook]:
        """
        Yield the order book of a token after every change. It is always the same object, verified by the checksum of
        every change and fetched again after a mismatch.
        """
        book = LocalBook()
        channel = {"type": "orderbook", "token_id": token_id}
        async for frame in Stream[api.StreamFrame](self._options, channel, is_sound=book.take):
            if frame["type"] in ("snapshot", "event"):
                yield book

# async methods`;

if (import.meta.main) {
  const files = await formatPythonClient();
  for (const name of ["api.py", "client.py"] as const)
    await writeFile(
      new URL(`../../clients/python/src/oddwire/${name}`, import.meta.url),
      files[name],
    );
}
