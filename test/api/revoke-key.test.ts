import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Type } from "typebox";
import { defineRoute } from "../../src/api/route/route.ts";
import { cleanUp } from "../support/clean-up.ts";
import { assertError, assertEveryHeader, openTestServer } from "../support/open-test-server.ts";

const server = await openTestServer({ authFailuresMax: 0 });
const { admin } = server.keys;
after(() => server.close());

let made = 0;
function makeKey() {
  made += 1;
  const input = { name: `revoked ${made}`, expiresAtMs: null, allowedIps: [] };
  return server.access.keys.create({ ...input, scope: "read" });
}

function revoke(id: string, key: string = admin) {
  return server.request("DELETE", `/v1/keys/${id}`, { key });
}

test("200: confirms the revocation, and the key gets 401 from then on", async () => {
  const { key, value } = await makeKey();
  const answer = await revoke(key.id);
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.body, { message: "Key revoked" });
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assertEveryHeader(answer.headers);
  for (const waitMs of [0, 60_000, 86_400_000]) {
    server.clock.advance(waitMs);
    assertError(await server.request("GET", "/v1/nothing", { key: value }), "UNAUTHORIZED");
  }
});

test("200: revokes both values of a key in its grace period", async () => {
  const { key, value } = await makeKey();
  const rotated = await server.access.keys.rotate(key.id, 60_000);
  await revoke(key.id);
  for (const dead of [value, rotated.value])
    assertError(await server.request("GET", "/v1/nothing", { key: dead }), "UNAUTHORIZED");
});

test("200: listeners, which close sockets, are called before the response", async () => {
  const { key, value } = await makeKey();
  const verified = server.access.keys.verify(value, "127.0.0.1");
  assert.ok(verified);
  let wasLive: boolean | null = null;
  server.access.keys.onEnded(() => {
    wasLive = server.access.keys.isLive(verified);
  });
  await server.access.keys.revoke(key.id);
  assert.equal(wasLive, false);
});

test("401: a key that is revoked while a long response is made, also for a client that accepts gzip", async (t) => {
  const { promise: requested, resolve: ask } = Promise.withResolvers<void>();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const long = defineRoute({
    path: "/v1/long",
    access: "read",
    summary: "A long response",
    isTagged: () => true,
    response: Type.Object({ data: Type.String() }),
    handler: async () => {
      ask();
      await opened;
      return { data: "x".repeat(100_000) };
    },
  });
  const slow = await openTestServer({ routes: [long] });
  cleanUp(t, () => slow.close());
  const input = { name: "for a while", expiresAtMs: null, allowedIps: [] } as const;
  const { key, value } = await slow.access.keys.create({ ...input, scope: "read" });
  const headers = { "accept-encoding": "gzip" };
  const answering = slow.request("GET", "/v1/long", { key: value, headers });
  await requested;
  await slow.access.keys.revoke(key.id);
  open();
  const answer = await answering;
  assertError(answer, "UNAUTHORIZED");
  for (const name of ["content-encoding", "etag"]) assert.equal(answer.headers.get(name), null);
});

test("200: a content type without a body, as some clients send it", async () => {
  const { key } = await makeKey();
  const headers = { "content-type": "application/json" };
  const answer = await server.request("DELETE", `/v1/keys/${key.id}`, { key: admin, headers });
  assert.equal(answer.status, 200);
});

test("400: a body or a query string", async () => {
  const { key } = await makeKey();
  const sent = { key: admin, json: { reason: "lost" } };
  assertError(await server.request("DELETE", `/v1/keys/${key.id}`, sent), "VALIDATION_ERROR");
  assertError(await revoke(`${key.id}?force=true`), "VALIDATION_ERROR");
});

test("403: a key of lower scope, even to revoke itself", async () => {
  const { key, value } = await makeKey();
  assertError(await revoke(key.id, value), "FORBIDDEN");
  assertError(await revoke(key.id, server.keys.write), "FORBIDDEN");
});

test("404: an unknown id, and a key that is already revoked", async () => {
  const { key } = await makeKey();
  await revoke(key.id);
  assertError(await revoke(key.id), "NOT_FOUND");
  assertError(await revoke("00000000-0000-4000-8000-000000000000"), "NOT_FOUND");
  assertError(await revoke("not-a-uuid"), "NOT_FOUND");
});
