import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  assertError,
  assertEveryHeader,
  getData,
  openTestServer,
} from "../support/open-test-server.ts";

const server = await openTestServer({ authFailuresMax: 0 });
const { admin } = server.keys;
after(() => server.close());

let made = 0;
function makeKey() {
  made += 1;
  const input = { name: `rotated ${made}`, expiresAtMs: null, allowedIps: [] };
  return server.access.keys.create({ ...input, scope: "read" });
}

function rotate(id: string, json?: unknown, key: string = admin) {
  return server.request("POST", `/v1/keys/${id}/rotate`, {
    key,
    ...(json === undefined ? {} : { json }),
  });
}

async function getStatus(key: string): Promise<number> {
  return (await server.request("GET", "/v1/nothing", { key })).status;
}

test("200: keeps the id, returns a new value, and ends the old value immediately", async () => {
  const { key, value } = await makeKey();
  const answer = await rotate(key.id);
  assert.equal(answer.status, 200);
  const data = getData(answer);
  assert.equal(data["id"], key.id);
  assert.equal(data["name"], key.name);
  assert.equal(data["rate_limit"], 1000);
  assert.notEqual(data["key"], value);
  assert.equal(data["prefix"], String(data["key"]).slice(0, 12));
  assert.equal(await getStatus(value), 401);
  assert.equal(await getStatus(String(data["key"])), 404);
});

test("200: in the grace period the old value works too, and both share one limit", async () => {
  const { key, value } = await makeKey();
  const newValue = String(getData(await rotate(key.id, { grace_seconds: 30 }))["key"]);
  const remaining = [];
  for (const one of [value, newValue, value]) {
    const answer = await server.request("GET", "/v1/nothing", { key: one });
    assert.equal(answer.status, 404);
    remaining.push(assertEveryHeader(answer.headers).remaining);
  }
  assert.deepEqual(remaining, [999, 998, 997]);
  const readKey = async () =>
    getData(await server.request("GET", `/v1/keys/${key.id}`, { key: admin }));
  const graceUntil = Date.parse(String((await readKey())["previous_value_expires_at"]));
  assert(Math.abs(graceUntil - server.clock.nowMs() - 30_000) < 10_000);
  server.clock.advance(30_000);
  assert.equal(await getStatus(value), 401);
  assert.equal(await getStatus(newValue), 404);
  assert.equal((await readKey())["previous_value_expires_at"], null);
});

test("200: the grace period ends when the key expires, and is shown so", async () => {
  const expiresAtMs = server.clock.nowMs() + 60_000;
  const { key, value } = await server.access.keys.create({
    name: "expires in its grace period",
    scope: "read",
    expiresAtMs,
    allowedIps: [],
  });
  const newValue = String(getData(await rotate(key.id, { grace_seconds: 86_400 }))["key"]);
  const readKey = async () =>
    getData(await server.request("GET", `/v1/keys/${key.id}`, { key: admin }));
  const before = await readKey();
  assert.equal(before["previous_value_expires_at"], new Date(expiresAtMs).toISOString());
  assert.deepEqual(await Promise.all([value, newValue].map(getStatus)), [404, 404]);
  server.clock.advance(60_000);
  assert.deepEqual(await Promise.all([value, newValue].map(getStatus)), [401, 401]);
  const after60s = await readKey();
  assert.equal(after60s["status"], "expired");
  assert.equal(after60s["previous_value_expires_at"], null);
});

test("200: at most two values work, however often the key is rotated", async () => {
  const { key, value } = await makeKey();
  const second = String(getData(await rotate(key.id, { grace_seconds: 86_400 }))["key"]);
  const third = String(getData(await rotate(key.id, { grace_seconds: 86_400 }))["key"]);
  assert.deepEqual(await Promise.all([value, second, third].map(getStatus)), [401, 404, 404]);
});

test("400: a grace period out of range, and an unknown field", async () => {
  const { key } = await makeKey();
  for (const grace of [-1, 86_401, 1.5, "5", true])
    assert.deepEqual(
      assertError(await rotate(key.id, { grace_seconds: grace }), "VALIDATION_ERROR").details,
      [
        {
          parameter: "grace_seconds",
          issue: `must be a whole number from 0 to 86400; got ${JSON.stringify(grace)}`,
        },
      ],
    );
  assertError(await rotate(key.id, { grace: 5 }), "VALIDATION_ERROR");
});

test("403: a key that is not an admin key cannot rotate itself", async () => {
  const { key, value } = await makeKey();
  assertError(await rotate(key.id, {}, value), "FORBIDDEN");
});

test("404: an unknown, a revoked and an expired key", async () => {
  const { key } = await makeKey();
  await server.access.keys.revoke(key.id);
  const input = { name: "expiring", scope: "read", allowedIps: [] } as const;
  const expiring = await server.access.keys.create({
    ...input,
    expiresAtMs: server.clock.nowMs() + 1,
  });
  server.clock.advance(1);
  for (const id of [key.id, expiring.key.id, "unknown"])
    assertError(await rotate(id, {}), "NOT_FOUND");
});

test("415: a body that is not JSON", async () => {
  const headers = { "content-type": "text/plain" };
  const sent = { key: admin, headers, body: "grace_seconds=5" };
  assertError(await server.request("POST", "/v1/keys/x/rotate", sent), "UNSUPPORTED_MEDIA_TYPE");
});
