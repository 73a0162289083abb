import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  assertError,
  assertEveryHeader,
  getData,
  openTestServer,
  testFreshness,
} from "../support/open-test-server.ts";

const server = await openTestServer({ authFailuresMax: 0 });
const { admin } = server.keys;
after(() => server.close());

function create(json: unknown, key = admin) {
  return server.request("POST", "/v1/keys", { key, json });
}

async function getFaults(json: unknown): Promise<unknown> {
  return assertError(await create(json), "VALIDATION_ERROR").details;
}

test("201: a read key by default, shown once, that works immediately", async () => {
  const answer = await create({ name: "Ada's dashboard" });
  assert.equal(answer.status, 201);
  assert.deepEqual(assertEveryHeader(answer.headers).limit, 5000);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const { id, key, prefix, created_at, ...rest } = getData(answer);
  assert.match(String(id), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.match(String(key), /^ow_read_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  assert.equal(prefix, String(key).slice(0, 12));
  assert.match(String(created_at), /^20[0-9]{2}-.*Z$/);
  assert.deepEqual(rest, {
    name: "Ada's dashboard",
    scope: "read",
    rate_limit: 1000,
    expires_at: null,
  });
  const requestId = answer.headers.get("x-request-id");
  assert.deepEqual(answer.body["meta"], { request_id: requestId, ...testFreshness });
  const used = await server.request("GET", "/v1/keys", { key: String(key) });
  assertError(used, "FORBIDDEN");
});

test("201: every field is honored", async () => {
  const fields = { name: "writer", scope: "write", expires_at: "2100-01-01T00:00:00+01:00" };
  const answer = await create({ ...fields, allowed_ips: ["10.0.0.0/8", "::1"] });
  assert.equal(answer.status, 201);
  const { scope, rate_limit, expires_at } = getData(answer);
  assert.deepEqual(
    { scope, rate_limit, expires_at },
    {
      scope: "write",
      rate_limit: 2000,
      expires_at: "2099-12-31T23:00:00.000Z",
    },
  );
  const elsewhere = await server.request("GET", "/v1/keys", {
    key: String(getData(answer)["key"]),
  });
  assertError(elsewhere, "UNAUTHORIZED");
});

test("201: accepts times in epoch seconds and milliseconds, and null for an absent field", async () => {
  for (const [name, expiresAt] of Object.entries({ seconds: 4102444800, ms: 4102444800000 })) {
    const answer = await create({ name, expires_at: expiresAt, allowed_ips: null });
    assert.equal(getData(answer)["expires_at"], "2100-01-01T00:00:00.000Z");
  }
});

test("400: reports each invalid field, and suggests the name that was probably meant", async () => {
  assert.deepEqual(await getFaults({ nam: "x", scope: "root" }), [
    {
      parameter: "nam",
      issue:
        "is not known here; did you mean name? Valid names: name, scope, expires_at, allowed_ips",
    },
    { parameter: "scope", issue: 'must be one of read, write, admin; got "root"' },
    {
      parameter: "name",
      issue: "is required: text of 1 to 100 printable characters, without spaces around it",
    },
  ]);
  assert.deepEqual(await getFaults({ name: "x", expires_at: "2020-01-01T00:00:00Z" }), [
    { parameter: "expires_at", issue: "must be in the future" },
  ]);
  assert.deepEqual(await getFaults({ name: "x", allowed_ips: ["10.0.0.0/8", "10.0.0.0/99"] }), [
    {
      parameter: "allowed_ips",
      issue: 'must be a list of 1 to 64, each an IP address or a CIDR range; got "10.0.0.0/99"',
    },
  ]);
});

test("400: a name that is empty, too long, padded with spaces or not printable", async () => {
  for (const name of ["", " x", "x ", "a\nb", "a\u0000b", "\ud800", "a\u202eb", "x".repeat(101), 7])
    await getFaults({ name });
});

test("400: a body that is not a JSON object", async () => {
  const headers = { "content-type": "application/json" };
  for (const body of ["", "{", "[]", "null", '"x"', "1", '{"name":"x"} x', '{"__proto__":{}}']) {
    const answer = await server.request("POST", "/v1/keys", { key: admin, headers, body });
    assertError(answer, "VALIDATION_ERROR");
  }
});

test("400: a field with JSON that is nested thousands of levels deep", async () => {
  const headers = { "content-type": "application/json" };
  const body = `{"name":${"[".repeat(8000)}${"]".repeat(8000)}}`;
  const answer = await server.request("POST", "/v1/keys", { key: admin, headers, body });
  assert.match(assertError(answer, "VALIDATION_ERROR").message, /^name must be /);
});

test("400: a field that is given twice, even if its name is escaped", async () => {
  const headers = { "content-type": "application/json" };
  const bodies = {
    scope: '{"name":"x","scope":"read","scope":"admin"}',
    name: '{"name":"x:{","\\u006eame":"y\\"\\\\"}',
  };
  for (const [parameter, body] of Object.entries(bodies)) {
    const answer = await server.request("POST", "/v1/keys", { key: admin, headers, body });
    const fault = { parameter, issue: "is given more than once" };
    assert.deepEqual(assertError(answer, "VALIDATION_ERROR").details, [fault]);
  }
  const body = '{"name":"scope","scope":"read","allowed_ips":["10.0.0.1"]}';
  const answer = await server.request("POST", "/v1/keys", { key: admin, headers, body });
  assert.equal(answer.status, 201);
});

test("400: a query string", async () => {
  const answer = await server.request("POST", "/v1/keys?name=x", {
    key: admin,
    json: { name: "y" },
  });
  assertError(answer, "VALIDATION_ERROR");
});

test("401: no key and every kind of invalid key, with the same response", async () => {
  const flipped = admin.slice(0, -1) + (admin.endsWith("0") ? "1" : "0");
  const answers = [await server.request("POST", "/v1/keys", { json: { name: "x" } })];
  for (const key of ["x", "ow_admin_", flipped, admin.toLowerCase(), "k".repeat(8000)])
    answers.push(await create({ name: "x" }, key));
  for (const answer of answers) {
    assert.deepEqual(assertError(answer, "UNAUTHORIZED"), {
      message: "API key missing or invalid; send it in X-API-Key",
    });
    assert.equal(assertEveryHeader(answer.headers).limit, 100);
  }
});

test("403: read and write keys", async () => {
  for (const key of [server.keys.read, server.keys.write]) {
    const answer = await create({ name: "x" }, key);
    assertError(answer, "FORBIDDEN");
    assert.ok(assertEveryHeader(answer.headers).limit < 5000);
  }
});

test("409: the name of an active key, until that key is revoked or expires", async () => {
  const first = await create({ name: "taken" });
  assertError(await create({ name: "taken" }), "CONFLICT");
  await server.request("DELETE", `/v1/keys/${String(getData(first)["id"])}`, { key: admin });
  const soon = Math.ceil(server.clock.nowMs() / 1000) + 2;
  assert.equal((await create({ name: "taken", expires_at: soon })).status, 201);
  assertError(await create({ name: "taken" }), "CONFLICT");
  server.clock.advance(3000);
  assert.equal((await create({ name: "taken" })).status, 201);
});

test("413: a body above the size limit", async () => {
  for (const size of [17_000, 5_000_000])
    assertError(await create({ name: "x".repeat(size) }), "PAYLOAD_TOO_LARGE");
});

test("415: a body with a content encoding", async () => {
  for (const coding of ["gzip", "br", "GZIP", "identity, gzip"]) {
    const headers = { "content-encoding": coding };
    const sent = { key: admin, headers, json: { name: "packed" } };
    assertError(await server.request("POST", "/v1/keys", sent), "UNSUPPORTED_MEDIA_TYPE");
  }
});

test("415: a content type other than JSON", async () => {
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "!",
  ]) {
    const headers = { "content-type": type };
    const answer = await server.request("POST", "/v1/keys", { key: admin, headers, body: "{}" });
    assertError(answer, "UNSUPPORTED_MEDIA_TYPE");
  }
});

test("429: the 5001st request of an admin key within a minute", async () => {
  const { keys, clock, access } = server;
  const input = { name: "busy", scope: "admin", expiresAtMs: null, allowedIps: [] } as const;
  const { value } = await access.keys.create(input);
  for (let sent = 0; sent < 5000; sent += 100)
    await Promise.all(
      Array.from({ length: 100 }, () => server.request("GET", "/v1/nothing", { key: value })),
    );
  const refused = await create({ name: "y" }, value);
  assertError(refused, "RATE_LIMITED");
  assert.deepEqual(assertEveryHeader(refused.headers), { limit: 5000, remaining: 0 });
  assert.equal((await create({ name: "other caller" }, keys.admin)).status, 201);
  clock.advance(60_000);
  assert.equal((await create({ name: "a minute later" }, value)).status, 201);
});

test("400: an empty list of allowed IPs, which could mean none or all", async () => {
  const answer = await create({ name: "nowhere", allowed_ips: [] });
  const { details } = assertError(answer, "VALIDATION_ERROR");
  assert.match(JSON.stringify(details), /a list of 1 to \d+/);
});

test("409: names that differ only in case or in the form of their characters", async () => {
  assert.equal((await create({ name: "Caf\u00e9 Stra\u00dfe" })).status, 201);
  for (const name of ["caf\u00e9 stra\u00dfe", "Cafe\u0301 Stra\u00dfe", "CAF\u00c9 STRASSE"])
    assertError(await create({ name }), "CONFLICT");
});
