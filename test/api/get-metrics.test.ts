import assert from "node:assert/strict";
import { METHODS } from "node:http";
import { after, test } from "node:test";
import { Check } from "typebox/value";
import { type Metrics, metricsSchema } from "../../src/api/metrics/metrics-schema.ts";
import { getMetrics, getPrometheus } from "../../src/api/routes/service/get-metrics.ts";
import { assertError, assertEveryHeader, openTestServer } from "../support/open-test-server.ts";
import { testMetrics } from "../support/test-metrics.ts";

const metrics = testMetrics();
const server = await openTestServer({
  routes: [getMetrics(metrics), getPrometheus(metrics)],
  authFailuresMax: 0,
  observe: (observation) => metrics.requests.observe(observation),
});
const { read } = server.keys;
after(() => server.close());

async function readApi(): Promise<Metrics["api"]> {
  const { body } = await server.request("GET", "/v1/metrics", { key: read });
  return body["api"] as Metrics["api"];
}

test("200: all metrics, as their schema describes, with any key", async () => {
  for (const [scope, limit] of [
    ["read", 1000],
    ["write", 2000],
    ["admin", 5000],
  ] as const) {
    const answer = await server.request("GET", "/v1/metrics", { key: server.keys[scope] });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(assertEveryHeader(answer.headers).limit, limit);
    assert.ok(Check(metricsSchema, answer.body), answer.text);
    const { api: _, ...expected } = await metrics.read();
    const { api: __, ...given } = answer.body;
    assert.deepEqual(given, expected);
  }
});

test("200: HEAD has the headers without the body", async () => {
  const answer = await server.request("HEAD", "/v1/metrics", { key: read });
  assert.equal(answer.status, 200);
  assert.equal(answer.text, "");
  assertEveryHeader(answer.headers);
});

test("200: requests are counted by route, method and status, refusals by code", async () => {
  const before = await readApi();
  await server.request("GET", "/v1/keys/one", { key: server.keys.admin });
  await server.request("GET", "/v1/keys/two", { key: server.keys.admin });
  await server.request("GET", "/v1/keys/two", { key: read });
  await server.request("GET", "/v1/health");
  const after = await readApi();
  const keys = after.routes.find(
    ({ method, route }) => method === "GET" && route === "/v1/keys/{id}",
  );
  assert.deepEqual(keys?.statuses, { 403: 1, 404: 2 });
  assert.ok((keys.p50_ms ?? 0) > 0 && (keys.p99_ms ?? 0) >= (keys.p50_ms ?? 0));
  assert.equal(after.requests - before.requests, 5);
  assert.equal(after.refusals["NOT_FOUND"], 2 + (before.refusals["NOT_FOUND"] ?? 0));
  assert.equal(after.refusals["FORBIDDEN"], 1 + (before.refusals["FORBIDDEN"] ?? 0));
  assert.equal(after.errors, 0);
});

test("200: hostile requests cannot make the response grow", async () => {
  await Promise.all(
    METHODS.filter((method) => !["CONNECT", "TRACE"].includes(method)).map(async (method) => {
      await server.request(method, "/v1/keys", { key: read });
      await server.request(method, `/hostile-${method}`, { key: read });
    }),
  );
  const sizeBefore = (await readApi()).routes.length;
  const rounds = 40;
  server.clock.advance(60_000);
  for (let round = 0; round < rounds; round += 1) {
    await server.request("GET", `/hostile-path-${round}`, { key: read });
    await server.request("GET", `/v1/hostile-${round}/%ff`, { key: read });
    await server.request("DELETE", `/v1/ip-blocks/hostile-${round}?hostile_${round}=1`);
    await server.sendRaw(`HOSTILE${round} /hostile HTTP/1.1\r\nhost: x\r\n\r\n`);
  }
  server.clock.advance(60_000);
  await server.sendRaw("CONNECT hostile:1 HTTP/1.1\r\nhost: hostile\r\n\r\n");
  const { routes, requests } = await readApi();
  assert.ok(routes.length <= sizeBefore + 2, `${routes.length} entries, ${sizeBefore} before`);
  const counted = routes.flatMap(({ statuses }) => Object.values(statuses));
  assert.equal(
    counted.reduce((sum, count) => sum + count, 0),
    requests,
  );
  const unknown = routes.find(({ method, route }) => method === "GET" && route === "unknown");
  // A path that cannot be decoded is a 400.
  assert.deepEqual(unknown?.statuses, { 400: rounds, 404: 1 + rounds });
  const malformed = routes.find(({ route }) => route === "malformed");
  assert.deepEqual(malformed, {
    method: "other",
    route: "malformed",
    statuses: { 400: rounds, 405: 1 },
    p50_ms: null,
    p95_ms: null,
    p99_ms: null,
  });
  const { text } = await server.request("GET", "/v1/metrics", { key: read });
  assert.doesNotMatch(text, /hostile/i);
  const prometheus = await server.request("GET", "/v1/metrics/prometheus", { key: read });
  assert.doesNotMatch(prometheus.text, /hostile/i);
});

test("200: include=history adds the readings of the last hour", async () => {
  const { body } = await server.request("GET", "/v1/metrics?include=history", { key: read });
  assert.deepEqual(body["history"], metrics.readings);
  assert.ok(Check(metricsSchema, body));
});

test("400: an unknown parameter", async () => {
  const answer = await server.request("GET", "/v1/metrics?format=prometheus", { key: read });
  assert.deepEqual(assertError(answer, "VALIDATION_ERROR").details, [
    { parameter: "format", issue: "is not known here; valid names: include" },
  ]);
});
