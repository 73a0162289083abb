import assert from "node:assert/strict";
import { after, test } from "node:test";
import { assertError, assertEveryHeader, openTestServer } from "../support/open-test-server.ts";

const server = await openTestServer();
after(() => server.close());

test("200: status, version and uptime, without a key", async () => {
  const answer = await server.request("GET", "/v1/health");
  assert.equal(answer.status, 200);
  const { uptime_seconds, ...rest } = answer.body;
  assert.deepEqual(rest, { status: "ok", version: "0.1.0" });
  assert.ok(Number.isInteger(uptime_seconds));
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.deepEqual(assertEveryHeader(answer.headers), { limit: 100, remaining: 99 });
});

test("200: a key, valid or not, makes no difference", async () => {
  for (const key of [server.keys.admin, "ow_read_bad"]) {
    const answer = await server.request("GET", "/v1/health", { key });
    assert.equal(answer.status, 200);
    assert.equal(assertEveryHeader(answer.headers).limit, 100);
  }
});

test("200: HEAD has the headers without the body", async () => {
  const answer = await server.request("HEAD", "/v1/health");
  assert.equal(answer.status, 200);
  assert.equal(answer.text, "");
  assertEveryHeader(answer.headers);
});

test("400: an unknown parameter", async () => {
  const answer = await server.request("GET", "/v1/health?verbose=1");
  assert.deepEqual(assertError(answer, "VALIDATION_ERROR").details, [
    { parameter: "verbose", issue: "is not known here; there are no parameters" },
  ]);
});

test("429: the 101st request of an IP within a minute, until the first has left the window", async () => {
  server.clock.advance(60_000);
  for (let count = 1; count <= 100; count += 1) {
    const answer = await server.request("GET", "/v1/health");
    assert.equal(answer.status, 200);
    assert.equal(assertEveryHeader(answer.headers).remaining, 100 - count);
  }
  const refused = await server.request("GET", "/v1/health");
  assert.equal(assertError(refused, "RATE_LIMITED").message, "Too many requests");
  const retryAfter = Number(refused.headers.get("retry-after"));
  assert.ok(retryAfter >= 1 && retryAfter <= 60);
  server.clock.advance(retryAfter * 1000);
  assert.equal((await server.request("GET", "/v1/health")).status, 200);
});
