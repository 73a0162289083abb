/** ODDWIRE_PUBLIC_READ and ODDWIRE_PUBLIC_METRICS: reading without a key, at the limit of the IP. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Type } from "typebox";
import { defineRoute } from "../../src/api/route/route.ts";
import { cleanUp } from "../support/clean-up.ts";
import { assertError, openTestServer } from "../support/open-test-server.ts";

const readable = defineRoute({
  path: "/v1/readable",
  summary: "Something to read",
  access: "read",
  response: Type.Object({}),
  handler: () => ({}),
});

test("reading requires a key unless it is public", async (t) => {
  const server = await openTestServer({ routes: [readable] });
  cleanUp(t, async () => server.close());
  assertError(await server.request("GET", "/v1/readable"), "UNAUTHORIZED");
});

test("public reading is counted by IP, and only reading is public", async (t) => {
  const server = await openTestServer({ routes: [readable], isPublicRead: true });
  cleanUp(t, async () => server.close());
  const anonymous = await server.request("GET", "/v1/readable");
  assert.equal(anonymous.status, 200);
  assert.equal(anonymous.headers.get("x-ratelimit-limit"), "100");
  assertError(await server.request("GET", "/v1/keys"), "UNAUTHORIZED");
  assertError(await server.request("POST", "/v1/keys", { json: { name: "x" } }), "UNAUTHORIZED");
});

test("public reading does not open metrics, which have a setting of their own", async (t) => {
  const metered = defineRoute({ ...readable, path: "/v1/metered", access: "metrics" });
  const routes = [readable, metered];
  for (const [isPublicRead, isPublicMetrics] of [
    [true, false],
    [false, true],
  ] as const) {
    const server = await openTestServer({ routes, isPublicRead, isPublicMetrics });
    cleanUp(t, async () => server.close());
    const statuses = { read: isPublicRead ? 200 : 401, metrics: isPublicMetrics ? 200 : 401 };
    assert.equal((await server.request("GET", "/v1/readable")).status, statuses.read);
    assert.equal((await server.request("GET", "/v1/metered")).status, statuses.metrics);
    const { read: key } = server.keys;
    assert.equal((await server.request("GET", "/v1/metered", { key })).status, 200);
    assertError(await server.request("GET", "/v1/metered", { key: "ow_read_x" }), "UNAUTHORIZED");
  }
});

test("a key that is sent still has its own limit, and an invalid key is still refused", async (t) => {
  const server = await openTestServer({ routes: [readable], isPublicRead: true });
  cleanUp(t, async () => server.close());
  const { read: key } = server.keys;
  const withKey = await server.request("GET", "/v1/readable", { key });
  assert.equal(withKey.headers.get("x-ratelimit-limit"), "1000");
  assertError(await server.request("GET", "/v1/readable", { key: "ow_read_x" }), "UNAUTHORIZED");
});

test("429: without a key, after as many requests of the IP as the setting allows", async () => {
  const server = await openTestServer({ routes: [readable], isPublicRead: true, requestsPerIp: 3 });
  for (const remaining of [2, 1, 0]) {
    const { headers } = await server.request("GET", "/v1/health");
    assert.equal(headers.get("x-ratelimit-limit"), "3");
    assert.equal(headers.get("x-ratelimit-remaining"), String(remaining));
  }
  assert.equal((await server.request("GET", "/v1/health")).status, 429);
  const { headers } = await server.request("GET", "/v1/health", { key: server.keys.read });
  assert.equal(headers.get("x-ratelimit-limit"), "3");
  await server.close();
});
