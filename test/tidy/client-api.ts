/** Prints `clients/typescript/src/api.ts`, generated from the document of the API. `npm run docs` writes the file. */

import type { JsonSchema } from "../../src/api/docs/api-document.ts";
import type { ApiDocument, Operation } from "../../src/api/docs/describe-api.ts";
import { ApiContract } from "../support/api-contract.ts";
import { DataServer } from "../support/open-data-server.ts";

const introduction = `/**
 * The shapes of the API, made from the schemas the service runs on by \`npm run docs\`; a test compares
 * the two. Decimals, token ids and raw amounts are strings, so that no digit is lost.
 */
`;

/** Parameters of a list that the paging of the client sets. */
const pagingNames: ReadonlySet<string> = new Set(["cursor"]);

/** Returns the whole file. */
export async function formatClientApi(): Promise<string> {
  const server = await DataServer.open();
  try {
    return formatTypes((await ApiContract.read(server)).document);
  } finally {
    await server.close();
  }
}

function formatTypes({ components, paths }: ApiDocument): string {
  const shapes = Object.entries(components.schemas).map(([name, schema]) => {
    const comment = schema.description === undefined ? "" : `/** ${schema.description}. */\n`;
    return `${comment}export type ${getName(name)} = ${getType(schema)};\n`;
  });
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      formatOperation(`${method.toUpperCase()} ${path}`, operation),
    ),
  );
  const named = operations.filter((text) => text !== "");
  return [introduction, ...shapes, ...named].join("\n");
}

/** The query, body and response of an endpoint, as one type named after its operation. */
function formatOperation(line: string, operation: Operation): string {
  const answer = operation.responses["200"] ?? operation.responses["201"];
  if (answer === undefined || "$ref" in answer) return "";
  const schema = answer.content["application/json"]?.schema;
  if (schema === undefined || schema.type !== "object" || schema.properties === undefined)
    return "";
  const body = operation.requestBody?.content["application/json"]?.schema;
  const fields = [
    `query: ${toQuery(operation)}`,
    ...(body === undefined ? [] : [`body: ${getBody(body)}`]),
    `answer: ${getType(schema)}`,
  ];
  const name = operation.operationId.charAt(0).toUpperCase() + operation.operationId.slice(1);
  const shape = toBlock(fields.map((field) => `readonly ${field}`));
  return `/** ${line}: ${operation.summary}. */\nexport type ${name} = ${shape};\n`;
}

function toQuery({ parameters }: Operation): string {
  const fields = parameters.flatMap((parameter) => {
    if ("$ref" in parameter || parameter.in !== "query" || pagingNames.has(parameter.name)) {
      return [];
    }
    const type = getType(parameter.schema);
    return parameter.required
      ? [`readonly ${parameter.name}: ${type}`]
      : [`readonly ${parameter.name}?: ${type} | undefined`];
  });
  return toBlock(fields);
}

/** The type of a request body. Fields with a default are optional. */
function getBody({ properties = {}, required = [] }: JsonSchema): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `readonly ${name}${required.includes(name) ? "" : "?"}: ${getType(schema)}`,
  );
  return toBlock(fields);
}

function getType(schema: JsonSchema): string {
  const { $ref, type, items, properties, patternProperties, anyOf } = schema;
  if ($ref !== undefined) return getName($ref.replace("#/components/schemas/", ""));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (anyOf !== undefined) return anyOf.map(getType).join(" | ");
  if (Array.isArray(type)) return type.map((one: string) => getType({ type: one })).join(" | ");
  if (items !== undefined) return getList(getType(items));
  if (properties !== undefined) return getObject(schema);
  const [pattern] = Object.values(patternProperties ?? {});
  if (pattern !== undefined) return `{ readonly [name: string]: ${getType(pattern)} }`;
  return primitives[String(type)] ?? "unknown";
}

function getList(item: string): string {
  return item.includes("|") && !item.startsWith("{")
    ? `readonly (${item})[]`
    : `readonly ${item}[]`;
}

/** Fields between braces, one per line. */
function toBlock(fields: readonly string[]): string {
  if (fields.length === 0) return "Readonly<Record<string, never>>";
  const lines = fields.map((field) => `  ${field.replaceAll("\n", "\n  ")};\n`);
  return `{\n${lines.join("")}}`;
}

/** The name of a type. The component `Error` is renamed, because it would hide the built-in `Error`. */
function getName(component: string): string {
  return component === "Error" ? "ErrorAnswer" : component;
}

const primitives: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

function getObject({ properties = {}, required = [] }: JsonSchema): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `readonly ${name}${required.includes(name) ? "" : "?"}: ${getType(schema)}`,
  );
  return toBlock(fields);
}

if (import.meta.main) process.stdout.write(await formatClientApi());
