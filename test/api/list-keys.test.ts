import assert from "node:assert/strict";
import { after, test } from "node:test";
import { assertError, openTestServer, toRows } from "../support/open-test-server.ts";

const server = await openTestServer();
const { admin } = server.keys;
after(() => server.close());

function list(query = "", key: string = admin) {
  return server.request("GET", `/v1/keys${query}`, { key });
}

test("200: keys newest first, without their values", async () => {
  const answer = await list();
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.deepEqual(answer.body["pagination"], { limit: 50, has_more: false, next_cursor: null });
  const rows = toRows(answer);
  assert.equal(rows.length, 3);
  for (const value of Object.values(server.keys)) assert.ok(!answer.text.includes(value.slice(13)));
  const { id, prefix, created_at, last_used_at, ...rest } =
    rows.find((row) => row["scope"] === "admin") ?? {};
  assert.ok(id && prefix && created_at && last_used_at);
  assert.deepEqual(rest, {
    name: "test admin",
    scope: "admin",
    rate_limit: 5000,
    expires_at: null,
    status: "active",
    allowed_ips: [],
    previous_value_expires_at: null,
    revoked_at: null,
    request_count: 1,
  });
});

test("200: pages have every key once while new keys are created", async () => {
  for (let count = 0; count < 7; count += 1) {
    server.clock.advance(count % 2);
    const name = `page ${count}`;
    await server.access.keys.create({ name, scope: "read", expiresAtMs: null, allowedIps: [] });
  }
  const before = toRows(await list()).map((row) => row["id"]);
  const seen: unknown[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await list(`?limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`);
    seen.push(...toRows(page).map((row) => row["id"]));
    const name = `during ${seen.length}`;
    await server.access.keys.create({ name, scope: "read", expiresAtMs: null, allowedIps: [] });
    cursor = (page.body["pagination"] as { next_cursor: string | null }).next_cursor;
  }
  assert.deepEqual(seen, before);
});

test("400: a limit out of range or not in plain digits, unknown and repeated parameters", async () => {
  const issue = "must be a whole number from 1 to 100";
  for (const limit of [
    "0",
    "101",
    "-1",
    "1e1",
    "0x10",
    "+5",
    " 5",
    "5.0",
    "05",
    "",
    "abc",
    "%35%00",
  ])
    assert.match(
      assertError(await list(`?limit=${limit}`), "VALIDATION_ERROR").message,
      new RegExp(`^limit ${issue}; got "`),
    );
  assert.deepEqual(assertError(await list("?limt=5&limit=5&limit=5"), "VALIDATION_ERROR").details, [
    {
      parameter: "limt",
      issue: "is not known here; did you mean limit? Valid names: limit, cursor",
    },
    { parameter: "limit", issue: "is given more than once" },
  ]);
  assertError(await list("?%ff=1"), "VALIDATION_ERROR");
  assertError(await list("?limit=%ff"), "VALIDATION_ERROR");
  assert.equal((await list("?limit=%35")).status, 200);
});

test("400: cursors that the service did not issue", async () => {
  for (const cursor of ["x", "AAAA", "a".repeat(512), "%00"])
    assertError(await list(`?cursor=${cursor}`), "INVALID_CURSOR");
  assertError(await list("?cursor="), "VALIDATION_ERROR");
  assertError(await list(`?cursor=${"a".repeat(513)}`), "VALIDATION_ERROR");
});

test("400: a body", async () => {
  const headers = { "content-length": "2" };
  const head = `GET /v1/keys HTTP/1.1\r\nhost: x\r\nx-api-key: ${admin}\r\nconnection: close\r\n`;
  const text = await server.sendRaw(
    `${head}content-length: ${headers["content-length"]}\r\n\r\n{}`,
  );
  assert.match(text, /^HTTP\/1\.1 400 .*body is not accepted here/s);
});

test("403: a read key", async () => {
  assertError(await list("", server.keys.read), "FORBIDDEN");
});
