import assert from "node:assert/strict";
import { after, test } from "node:test";
import { cleanUp } from "../support/clean-up.ts";
import { assertError, assertEveryHeader, openTestServer } from "../support/open-test-server.ts";

let isFollowed = true;
const server = await openTestServer({
  readChecks: () => ({
    store: { ok: true, detail: "open" },
    chain: { ok: isFollowed, detail: isFollowed ? "followed" : "no endpoint answers" },
  }),
});
after(() => server.close());

test("200: every check passes", async () => {
  const answer = await server.request("GET", "/v1/ready");
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.body, {
    status: "ready",
    role: "serve",
    checks: { store: { ok: true, detail: "open" }, chain: { ok: true, detail: "followed" } },
  });
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(assertEveryHeader(answer.headers).limit, 100);
});

test("503: a check fails and says why", async () => {
  isFollowed = false;
  const answer = await server.request("GET", "/v1/ready");
  isFollowed = true;
  assert.equal(answer.status, 503);
  assert.deepEqual(answer.body, {
    status: "not_ready",
    role: "serve",
    checks: {
      store: { ok: true, detail: "open" },
      chain: { ok: false, detail: "no endpoint answers" },
    },
  });
  assertEveryHeader(answer.headers);
});

test("400: an unknown parameter", async () => {
  assertError(await server.request("GET", "/v1/ready?x"), "VALIDATION_ERROR");
});

test("200: requests of a load balancer do not count toward the limit; requests that it forwards do", async (t) => {
  const behind = await openTestServer({ trustedProxies: ["127.0.0.1"] });
  cleanUp(t, () => behind.close());
  const getRemaining = async (headers: Record<string, string>) =>
    assertEveryHeader((await behind.request("GET", "/v1/ready", { headers })).headers).remaining;
  for (let checks = 0; checks < 150; checks += 1) assert.equal(await getRemaining({}), 100);
  const forwarded = { "x-forwarded-for": "203.0.113.7" };
  assert.equal(await getRemaining(forwarded), 99);
  assert.equal(await getRemaining(forwarded), 98);
});
