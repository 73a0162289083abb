import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  assertError,
  assertEveryHeader,
  openTestServer,
  toRows,
} from "../support/open-test-server.ts";

const server = await openTestServer({ trustedProxies: ["127.0.0.1"] });
const { admin, read } = server.keys;
after(() => server.close());

/** Sends a request as the proxy forwards it for a client. */
function from(ip: string, path = "/v1/keys", key?: string) {
  return send(`GET ${path}`, ip, key);
}

function lift(ip: string, key?: string) {
  return send(`DELETE /v1/ip-blocks/${ip}`, "198.51.100.3", key);
}

function send(start: string, ip: string, key?: string) {
  const [method = "", path = ""] = start.split(" ");
  const headers = { "x-forwarded-for": `6.6.6.6, ${ip}` };
  return server.request(method, path, { headers, ...(key === undefined ? {} : { key }) });
}

async function failTimes(ip: string, count: number): Promise<void> {
  for (let failure = 0; failure < count; failure += 1)
    assertError(await from(ip, "/v1/keys", "ow_read_x"), "UNAUTHORIZED");
}

async function getRetryAfter(ip: string): Promise<number> {
  const answer = await from(ip);
  assertError(answer, "IP_BLOCKED");
  return Number(answer.headers.get("retry-after"));
}

test("403: 20 failed authentications block the IP, even for a valid key", async () => {
  await failTimes("203.0.113.1", 19);
  assert.equal((await from("203.0.113.1", "/v1/health")).status, 200);
  await failTimes("203.0.113.1", 1);
  const answer = await from("203.0.113.1", "/v1/keys", admin);
  assert.equal(assertError(answer, "IP_BLOCKED").message, "Your IP has been blocked");
  assert.equal(answer.headers.get("retry-after"), "900");
  assert.equal(assertEveryHeader(answer.headers).limit, 100);
  assert.equal((await from("203.0.113.2", "/v1/keys", admin)).status, 200);
});

test("403: a block expires, and the next one is twice as long", async () => {
  await failTimes("203.0.113.3", 20);
  assert.equal(await getRetryAfter("203.0.113.3"), 900);
  server.clock.advance(900_000);
  await failTimes("203.0.113.3", 20);
  assert.equal(await getRetryAfter("203.0.113.3"), 1800);
});

test("401: failures spread over more than five minutes do not block the IP", async () => {
  for (let minute = 0; minute < 12; minute += 1) {
    await failTimes("203.0.113.4", 3);
    server.clock.advance(60_000);
  }
});

test("401: a request without a key does not count as a failed authentication", async () => {
  for (let request = 0; request < 40; request += 1)
    assertError(await from("203.0.113.5"), "UNAUTHORIZED");
  await failTimes("203.0.113.5", 20);
  await getRetryAfter("203.0.113.5");
});

test("200: a blocked IP can still read health and readiness, within its rate limit", async () => {
  await failTimes("203.0.113.7", 20);
  await getRetryAfter("203.0.113.7");
  for (let request = 0; request < 80; request += 1)
    assert.equal((await from("203.0.113.7", "/v1/health")).status, 200);
  assertError(await from("203.0.113.7", "/v1/health"), "RATE_LIMITED");
  assert.equal((await from("203.0.113.8", "/v1/ready")).status, 200);
});

test("200: an admin key can unblock the IP it comes from; no other key can", async () => {
  const ip = "203.0.113.9";
  await failTimes(ip, 20);
  for (const key of [read, "ow_admin_x", undefined])
    assertError(await send(`DELETE /v1/ip-blocks/${ip}`, ip, key), "IP_BLOCKED");
  assertError(await from(ip, "/v1/keys", admin), "IP_BLOCKED");
  assert.equal((await from(ip, "/v1/ip-blocks", admin)).status, 200);
  assert.equal((await send(`DELETE /v1/ip-blocks/${ip}`, ip, admin)).status, 200);
  assert.equal((await from(ip, "/v1/keys", admin)).status, 200);
});

test("403: IPv6 addresses are blocked by /64 prefix", async () => {
  for (let host = 0; host < 20; host += 1) await failTimes(`2001:db8::${host.toString(16)}`, 1);
  await getRetryAfter("2001:db8::ffff");
  assert.equal((await from("2001:db8:0:1::1", "/v1/health")).status, 200);
});

test("403: an IP that keeps sending requests after 429 is blocked", async () => {
  for (let sent = 0; sent < 1100; sent += 100)
    await Promise.all(Array.from({ length: 100 }, () => from("203.0.113.6", "/v1/health")));
  await getRetryAfter("203.0.113.6");
});

test("401: the proxy itself is never blocked", async () => {
  for (let failure = 0; failure < 25; failure += 1)
    assertError(await server.request("GET", "/v1/keys"), "UNAUTHORIZED");
});

test("GET /v1/ip-blocks 200: active blocks, newest first, in pages", async () => {
  const first = await from("198.51.100.1", "/v1/ip-blocks?limit=2", admin);
  assert.equal(first.status, 200);
  const rows = toRows(first);
  assert.deepEqual(
    rows.map(({ ip, reason, offenses }) => ({ ip, reason, offenses })),
    [
      { ip: "203.0.113.6", reason: "abuse", offenses: 1 },
      { ip: "2001:db8:0:0::/64", reason: "failed_authentication", offenses: 1 },
    ],
  );
  const { next_cursor } = first.body["pagination"] as { next_cursor: string };
  const second = await from("198.51.100.1", `/v1/ip-blocks?cursor=${next_cursor}`, admin);
  assert.deepEqual(
    toRows(second).map((row) => row["ip"]),
    ["203.0.113.7", "203.0.113.5", "203.0.113.3"],
  );
  assertError(
    await from("198.51.100.1", `/v1/keys?cursor=${next_cursor}`, admin),
    "INVALID_CURSOR",
  );
});

test("GET /v1/ip-blocks 401, 403", async () => {
  assertError(await from("198.51.100.2", "/v1/ip-blocks"), "UNAUTHORIZED");
  assertError(await from("198.51.100.2", "/v1/ip-blocks", read), "FORBIDDEN");
});

test("DELETE /v1/ip-blocks/{ip} 200: unblocks the IP immediately; its next block is as long as a first one", async () => {
  const answer = await lift("203.0.113.5", admin);
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.body, { message: "IP unblocked" });
  await failTimes("203.0.113.5", 20);
  assert.equal(await getRetryAfter("203.0.113.5"), 900);
});

test("DELETE /v1/ip-blocks/{ip} 200: accepts a /64 as listed, or any address in it", async () => {
  const encoded = encodeURIComponent("2001:db8:0:0::/64");
  assert.equal((await lift(encoded, admin)).status, 200);
  for (let host = 0; host < 20; host += 1) await failTimes("2001:db8::1", 1);
  assert.equal((await lift("2001:db8:0:0::/64", admin)).status, 200);
  for (let host = 0; host < 20; host += 1) await failTimes("2001:db8::1", 1);
  assert.equal((await lift("2001:db8::abcd", admin)).status, 200);
});

test("DELETE /v1/ip-blocks/{ip} 400, 401, 403, 404", async () => {
  assertError(await lift("no-one", admin), "VALIDATION_ERROR");
  assertError(await lift("203.0.113.5"), "UNAUTHORIZED");
  assertError(await lift("203.0.113.5", read), "FORBIDDEN");
  assertError(await lift("203.0.113.99", admin), "NOT_FOUND");
});
