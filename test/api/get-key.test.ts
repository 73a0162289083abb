import assert from "node:assert/strict";
import { after, test } from "node:test";
import { assertError, getData, openTestServer } from "../support/open-test-server.ts";

const server = await openTestServer();
const { admin } = server.keys;
after(() => server.close());

const { key: made, value } = await server.access.keys.create({
  name: "one",
  scope: "read",
  expiresAtMs: server.clock.nowMs() + 60_000,
  allowedIps: ["127.0.0.0/8"],
});

test("200: the key, with its current usage and status", async () => {
  const get = async () =>
    getData(await server.request("GET", `/v1/keys/${made.id}`, { key: admin }));
  const before = await get();
  assert.equal(before["status"], "active");
  assert.equal(before["request_count"], 0);
  assert.equal(before["last_used_at"], null);
  assert.deepEqual(before["allowed_ips"], ["127.0.0.0/8"]);
  assertError(await server.request("GET", "/v1/keys", { key: value }), "FORBIDDEN");
  const used = await get();
  assert.equal(used["request_count"], 1);
  assert.match(String(used["last_used_at"]), /Z$/);
  server.clock.advance(60_000);
  assert.equal((await get())["status"], "expired");
  assertError(await server.request("GET", "/v1/keys", { key: value }), "UNAUTHORIZED");
  await server.access.keys.revoke(made.id);
  const revoked = await get();
  assert.equal(revoked["status"], "revoked");
  assert.match(String(revoked["revoked_at"]), /Z$/);
});

test("200: the id in upper case", async () => {
  const answer = await server.request("GET", `/v1/keys/${made.id.toUpperCase()}`, { key: admin });
  assert.equal(answer.status, 200);
});

test("403: a write key", async () => {
  const answer = await server.request("GET", `/v1/keys/${made.id}`, { key: server.keys.write });
  assertError(answer, "FORBIDDEN");
});

test("404: an unknown id of any form", async () => {
  for (const id of ["00000000-0000-4000-8000-000000000000", "x", "%00", "a%2Fb", "k".repeat(500)])
    assertError(await server.request("GET", `/v1/keys/${id}`, { key: admin }), "NOT_FOUND");
});
