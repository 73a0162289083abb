import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Compile } from "typebox/schema";
import packageJson from "../../package.json" with { type: "json" };
import type { JsonSchema, Parameter } from "../../src/api/docs/api-document.ts";
import type { ApiDocument } from "../../src/api/docs/describe-api.ts";
import sampleAnswers from "../../src/api/docs/sample-answers.json" with { type: "json" };
import { DataServer } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader } from "../support/open-test-server.ts";

const server = await DataServer.open({ finalBlocks: 2, unfinalizedBlocks: 0 });
after(() => server.close());

const { edge } = server;
const path = "/v1/openapi.json";

async function readDocument(): Promise<ApiDocument> {
  return (await edge.request("GET", path)).body as ApiDocument;
}

test("200: an OpenAPI 3.1 document of this version, without a key", async () => {
  const answer = await edge.request("GET", path);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "private, max-age=300");
  assert.equal(assertEveryHeader(answer.headers).limit, 100);
  const { openapi, info } = await readDocument();
  assert.equal(openapi, "3.1.0");
  assert.equal(info.version, packageJson.version);
});

test("200: every reference resolves to a component", async () => {
  const { components } = await readDocument();
  const text = (await edge.request("GET", path)).text;
  const references = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
  assert(references.length > 500);
  for (const [reference, sort = "", name = ""] of references) {
    assert(name in ((components as Record<string, object>)[sort] ?? {}), reference);
  }
  assert.equal(text.match(/"\$ref"/g)?.length, references.length, "there is no other reference");
});

test("200: parameters have their type, their bounds, their default and their values", async () => {
  const { paths } = await readDocument();
  const parameter = (at: string, name: string): Parameter => {
    const all = (paths[at]?.["get"]?.parameters ?? []).filter((one) => "name" in one);
    const found = all.find((one) => one.name === name);
    assert(found !== undefined, `${at} ${name}`);
    return found;
  };
  assert.deepEqual(parameter("/v1/ip-blocks", "limit"), {
    name: "limit",
    in: "query",
    required: false,
    description: "The most rows of a page",
    examples: { sample: { value: 100, "x-disabled": true } },
    schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
  });
  assert.deepEqual(parameter("/v1/trades", "side").schema, {
    type: "string",
    enum: ["BUY", "SELL"],
  });
  assert.deepEqual(parameter("/v1/price/{token_id}", "token_id"), {
    name: "token_id",
    in: "path",
    required: true,
    description:
      "Outcome token: a decimal below 2^256, or a slug or condition id with an outcome (label or index): who-wins:yes",
    example: sampleAnswers.getPrice.data.token_id,
    schema: { type: "string", pattern: "^([0-9]{1,78}|[^:]{1,200}:[^:]{1,200})$" },
  });
  const { required, style, explode, schema } = parameter("/v1/price", "token_ids");
  assert.deepEqual([required, style, explode, schema.maxItems], [true, "form", false, 100]);
});

const ownTypes: Readonly<Record<string, string>> = {
  getPrometheus: "text/plain",
  getLakeMarkets: "application/vnd.apache.parquet",
  getLakeFile: "application/vnd.apache.parquet",
};

test("200: a success has one media type, so that generated clients know what a response is", async () => {
  const { paths } = await readDocument();
  for (const [path, operations] of Object.entries(paths))
    for (const { operationId, responses } of Object.values(operations))
      for (const [status, response] of Object.entries(responses)) {
        if (!status.startsWith("2") || !("content" in response)) continue;
        const expected = ownTypes[operationId] ?? "application/json";
        assert.deepEqual(Object.keys(response.content), [expected], path);
      }
});

test("200: every operation, parameter, header and field is described, with an example", async () => {
  const document = await readDocument();
  const missing: string[] = [];
  const check = (schema: JsonSchema, at: string): void => {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (field.description === undefined) missing.push(`${at}.${name}`);
      const { examples, $ref, type, anyOf, enum: values } = field;
      const isMade = type === "object" || type === "array";
      const isShown = examples ?? $ref ?? anyOf ?? values ?? (isMade ? true : undefined);
      if (isShown === undefined) missing.push(`an example of ${at}.${name}`);
      const fits = Compile({ ...field, components: document.components });
      if (examples?.every((one) => fits.Check(one)) === false)
        missing.push(`a valid example of ${at}.${name}`);
      check(field, `${at}.${name}`);
    }
    for (const inner of [...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])])
      check(inner, at);
  };
  const { components, paths } = document;
  for (const [name, schema] of Object.entries(components.schemas)) check(schema, name);
  for (const [name, { description }] of Object.entries(components.headers))
    if (description === "") missing.push(name);
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { operationId, summary, description, ...operation }] of Object.entries(
      operations,
    )) {
      const at = `${method} ${path}`;
      assert.match(operationId, /^(list|get|open|create|rotate|revoke|unblock)[A-Z]\w+$/, at);
      if (summary.length > 28 || description === "" || description.startsWith(summary))
        missing.push(at);
      for (const parameter of operation.parameters) {
        if ("$ref" in parameter) continue;
        const { name, description: text, required, schema } = parameter;
        // Viewers send an `example`, and whatever an optional parameter suggests unless it is disabled.
        const { example = parameter.examples?.sample.value } = parameter;
        assert.equal(parameter.example !== undefined, required, `${at} ${name}`);
        assert.equal(parameter.examples?.sample["x-disabled"], required ? undefined : true);
        if (text === undefined || example === undefined) missing.push(`${at} ${name}`);
        if (!Compile(schema).Check(example)) missing.push(`a valid example of ${at} ${name}`);
      }
      const { requestBody, responses } = operation;
      for (const { content } of [
        ...(requestBody ? [requestBody] : []),
        ...Object.values(responses),
      ].filter((one) => "content" in one))
        for (const { schema } of Object.values(content)) check(schema, at);
    }
  }
  assert.deepEqual(missing, []);
});

test("200: an example has the meaning of its field", async () => {
  const { components, paths } = await readDocument();
  const getExample = (row: string, name: string): unknown =>
    components.schemas[row]?.properties?.[name]?.examples?.[0];
  const { data } = sampleAnswers.listTrades;
  for (const row of ["Trade", "Fill", "Match", "Cancellation", "Resolution"])
    assert.equal(getExample(row, "id"), data[0]?.id, row);
  assert.equal(getExample("Market", "id"), sampleAnswers.getMarket.data.id);
  const [bid, ask, mid, spread] = ["best_bid", "best_ask", "mid", "spread"].map((name) =>
    Number(getExample("OrderBook", name)),
  );
  assert.deepEqual([bid, ask, mid, spread], [0.51, 0.53, 0.52, 0.02]);
  const times = paths["/v1/trades"]?.["get"]?.parameters.flatMap((one) =>
    "name" in one && ["start", "end"].includes(one.name)
      ? [String(one.examples?.sample.value)]
      : [],
  );
  assert(times?.length === 2 && (times[0] ?? "") < (times[1] ?? ""), "the range is not empty");
});

test("200: each operation says who can call it: every client, any key, or an admin key", async () => {
  const { paths, components } = await readDocument();
  assert.deepEqual(components.securitySchemes, {
    ApiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
    Bearer: { type: "http", scheme: "bearer" },
  });
  assert.deepEqual(paths["/v1/health"]?.["get"]?.security, []);
  assert.deepEqual(paths["/v1/trades"]?.["get"]?.security, [{ ApiKey: [] }, { Bearer: [] }]);
  assert.deepEqual(paths["/v1/keys"]?.["post"]?.security, [
    { ApiKey: ["admin"] },
    { Bearer: ["admin"] },
  ]);
});

test("400: any parameter", async () => {
  assertError(await edge.request("GET", `${path}?pretty=1`), "VALIDATION_ERROR");
});

test("429: over the limit of the IP", async () => {
  edge.clock.advance(60_000);
  for (let sent = 0; sent < 100; sent += 1)
    assert.equal((await edge.request("HEAD", path)).status, 200);
  assertError(await edge.request("GET", path), "RATE_LIMITED");
  edge.clock.advance(60_000);
});
