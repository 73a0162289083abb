/** The server's OpenAPI document, and checks of responses against it. */
import assert from "node:assert/strict";
import { Compile, type Validator } from "typebox/schema";
import type {
  Content,
  Header,
  JsonSchema,
  Parameter,
  Response,
} from "../../src/api/docs/api-document.ts";
import type { ApiDocument, Operation } from "../../src/api/docs/describe-api.ts";
import type { DataServer } from "./open-data-server.ts";
import type { TestAnswer } from "./open-test-server.ts";

export type Endpoint = Pick<
  Operation,
  "operationId" | "description" | "tags" | "security" | "requestBody"
> & {
  readonly method: string;
  /** The path with parameters in braces. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, Response>>;
};

/** Headers of the transport, which the contract does not cover. */
const transportHeaders = [
  "content-type",
  "content-length",
  "transfer-encoding",
  "date",
  "connection",
  "keep-alive",
  "sec-websocket-accept",
];

export class ApiContract {
  readonly document: ApiDocument;
  readonly endpoints: readonly Endpoint[];
  readonly #validators = new Map<JsonSchema, Validator>();

  constructor(document: ApiDocument) {
    this.document = document;
    this.endpoints = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
        parameters: operation.parameters.map((one) => this.#resolve<Parameter>(one)),
        responses: this.#getResponses(operation),
      })),
    );
  }

  static async read({ edge }: Pick<DataServer, "edge">): Promise<ApiContract> {
    const answer = await edge.request("GET", "/v1/openapi.json");
    assert.equal(answer.status, 200);
    return new ApiContract(answer.body as ApiDocument);
  }

  /** The error codes of an endpoint for a status; empty for statuses that are not errors. */
  toCodes(endpoint: Endpoint, status: number): readonly string[] {
    const { content } = endpoint.responses[status] ?? {};
    return Object.keys(content?.["application/json"]?.examples ?? {});
  }

  /** Fails unless status, headers and body of a response are documented, without undocumented fields. */
  assertReported(endpoint: Endpoint, answer: TestAnswer): void {
    const { method, path } = endpoint;
    const name = `${method} ${path} ${answer.status}`;
    const response = endpoint.responses[answer.status];
    assert(response !== undefined, `${name} is not documented: ${answer.text.slice(0, 300)}`);
    this.#assertHeaders(response, answer, name);
    const type = answer.headers.get("content-type")?.replace(/;.*/, "") ?? "";
    // A file is named in the description: as content it would make the response of generated clients a union.
    if (type !== "application/json" && endpoint.description.includes(type)) return;
    this.#assertBody(response.content, answer, name);
  }

  /** Fails unless the schema accepts the sample response. */
  assertSample({ operationId }: Endpoint, { schema, example }: Content[string]): void {
    assert(example !== undefined, `${operationId} has no sample answer`);
    this.#assertValid(schema, example, `the sample answer of ${operationId}`);
  }

  #assertHeaders(response: Response, { headers }: TestAnswer, name: string): void {
    const reported = Object.entries(response.headers).map(
      ([header, reference]) => [header.toLowerCase(), this.#resolve<Header>(reference)] as const,
    );
    for (const [header, { required, schema }] of reported) {
      const text = headers.get(header);
      assert(text !== null || !required, `${name}: ${header} is missing`);
      const value = schema.type === "integer" ? Number(text) : text;
      if (text !== null) this.#assertValid(schema, value, `${name}: ${header}`);
    }
    const documented = new Set([...transportHeaders, ...reported.map(([header]) => header)]);
    const others = [...headers.keys()].filter((header) => !documented.has(header));
    assert.deepEqual(others, [], `${name}: headers that are not documented`);
  }

  #assertBody(content: Content, answer: TestAnswer, name: string): void {
    const type = answer.headers.get("content-type")?.replace(/;.*/, "") ?? "";
    if (Object.keys(content).length === 0) {
      assert.equal(answer.text, "", `${name}: a body is not documented`);
      return;
    }
    const media = content[type];
    assert(media !== undefined, `${name}: ${type} is not documented`);
    const isJson = type === "application/json";
    this.#assertValid(media.schema, isJson ? answer.body : answer.text, name);
    if (media.examples === undefined) return;
    const { code } = answer.body["error"] as { code: string };
    assert(code in media.examples, `${name}: ${code} is not documented`);
  }

  #assertValid(schema: JsonSchema, value: unknown, name: string): void {
    const validator = this.#validators.get(schema) ?? this.#compile(schema);
    this.#validators.set(schema, validator);
    if (validator.Check(value)) return;
    const [, [first]] = validator.Errors(value);
    assert.fail(`${name}: ${first?.instancePath} ${first?.message}: ${JSON.stringify(value)}`);
  }

  #compile(schema: JsonSchema): Validator {
    return compileClosed(schema, this.document.components.schemas);
  }

  #getResponses({ responses }: Operation): Record<string, Response> {
    const resolved = Object.entries(responses).map(
      ([status, response]) => [status, this.#resolve<Response>(response)] as const,
    );
    return Object.fromEntries(resolved);
  }

  #resolve<Component extends object>(one: Component | { readonly $ref: string }): Component {
    if (!("$ref" in one)) return one;
    const [, , sort = "", name = ""] = one.$ref.split("/");
    const components = this.document.components as Record<string, Record<string, unknown>>;
    const found = components[sort]?.[name];
    assert(found !== undefined, `${one.$ref} leads nowhere`);
    return found as Component;
  }
}

/** Compiles a schema that refuses undocumented fields. */
export function compileClosed(
  schema: JsonSchema,
  schemas: ApiDocument["components"]["schemas"],
): Validator {
  return Compile(closed({ ...schema, components: { schemas } }) as object);
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, closed(value)]);
  const isShape = typeof Reflect.get(schema, "properties") === "object";
  return { ...Object.fromEntries(entries), ...(isShape ? { additionalProperties: false } : {}) };
}
