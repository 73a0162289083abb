import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import { after, test } from "node:test";
import { Type } from "typebox";
import { defineRoute } from "../../src/api/route/route.ts";
import { assertError, assertEveryHeader, openTestServer } from "../support/open-test-server.ts";
import { waitMsMax } from "../support/wait-for.ts";

const failing = defineRoute({
  path: "/v1/failing",
  access: "read",
  summary: "A bug",
  cacheControl: "private, max-age=1",
  response: Type.Object({}),
  handler: () => {
    throw new Error("SELECT secret FROM table failed in a file");
  },
});
const ready = defineRoute({
  path: "/v1/ready-made/{token_id}",
  access: "read",
  summary: "JSON made before",
  cacheControl: "private, max-age=1",
  params: Type.Object({ token_id: Type.String() }),
  response: Type.Object({ price: Type.String() }),
  handler: () => '{"price":"0.5"}',
});
const origin = "https://app.example.com";
const server = await openTestServer({
  routes: [failing, ready],
  corsOrigins: [origin],
  authFailuresMax: 0,
});
const { read } = server.keys;
after(() => server.close());

async function idAnsweredTo(given: string): Promise<string | null> {
  const headers = { "x-request-id": given };
  return (await server.request("GET", "/v1/health", { headers })).headers.get("x-request-id");
}

test("200: prepared JSON is sent unchanged, with the cache lifetime of its route", async () => {
  const answer = await server.request("GET", "/v1/ready-made/1", { key: read });
  assert.deepEqual(answer.body, { price: "0.5" });
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "private, max-age=1");
  assertEveryHeader(answer.headers);
});

test("200: a valid request id is returned, any other is replaced", async () => {
  assert.equal(await idAnsweredTo("Trace_1.a-b"), "Trace_1.a-b");
  assert.equal(await idAnsweredTo("x".repeat(128)), "x".repeat(128));
  for (const given of ["x".repeat(129), "a b", "a\tb", "\u00fc", "a,b", '"', "<script>"])
    assert.match((await idAnsweredTo(given)) ?? "", /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
});

test("404: an unknown path, with the rate limit of the key if one is sent", async () => {
  const paths = ["/", "/v1", "/v2/health", "/v1/Health", "/v1/%2e%2e"];
  for (const path of paths) {
    const anonymous = await server.request("GET", path);
    assertError(anonymous, "NOT_FOUND");
    assert.equal(assertEveryHeader(anonymous.headers).limit, 100);
    const keyed = await server.request("POST", path, { key: read, json: { a: 1 } });
    assertError(keyed, "NOT_FOUND");
    assert.equal(assertEveryHeader(keyed.headers).limit, 1000);
  }
});

test("404: a path that lacks an id is unknown, with any method and without a key too", async () => {
  for (const [path, meant] of [
    ["/v1/ready-made/", "/v1/ready-made/{token_id}"],
    ["/v1/ready-made/?limit=1", "/v1/ready-made/{token_id}"],
    ["/v1/keys//rotate", "/v1/keys/{id}"],
  ]) {
    for (const method of ["GET", "POST", "DELETE"]) {
      for (const key of [server.keys.admin, undefined]) {
        const answer = await server.request(method, String(path), key === undefined ? {} : { key });
        const { message } = assertError(answer, "NOT_FOUND");
        assert.equal(message, `There is no such path; did you mean ${meant}? See /docs`);
      }
    }
  }
});

test("404: suggests the path that was probably meant, and points to /docs", async () => {
  const meant = {
    "/health": "/v1/health",
    "/v1/healht?x=/v1/keys": "/v1/health",
    "/api/v2/key": "/v1/keys",
    "/v1/ready-made": "/v1/ready-made/{token_id}",
    "/v1/readymade/0x12": "/v1/ready-made/{token_id}",
  };
  for (const [path, suggested] of Object.entries(meant)) {
    const { message } = assertError(await server.request("GET", path), "NOT_FOUND");
    assert.equal(message, `There is no such path; did you mean ${suggested}? See /docs`);
  }
  const { message } = assertError(await server.request("GET", "/wp-login.php"), "NOT_FOUND");
  assert.equal(message, "There is no such path; see /docs");
});

test("200: accepts a key as a bearer token; 400: two keys that differ", async () => {
  const ask = async (headers: Record<string, string>) =>
    server.request("GET", "/v1/ready-made/1", { headers });
  for (const authorization of [`Bearer ${read}`, `bearer ${read}`])
    assert.equal(assertEveryHeader((await ask({ authorization })).headers).limit, 1000);
  const both = (bearer: string) => ask({ authorization: `Bearer ${bearer}`, "x-api-key": read });
  assert.equal((await both(read)).status, 200);
  for (const other of ["x", server.keys.write])
    assert.match(assertError(await both(other), "VALIDATION_ERROR").message, /^authorization has/);
  const basic = await ask({ authorization: "Basic eDp5", "x-api-key": read });
  assert.equal(basic.status, 200, "a proxy can have a login of its own");
  for (const authorization of ["Bearer x", `Basic ${read}`, read, "Bearer"])
    assertError(await ask({ authorization }), "UNAUTHORIZED");
});

test("401: an invalid key, also on an unknown path or with another method", async () => {
  assertError(await server.request("GET", "/v1/nothing", { key: "ow_read_x" }), "UNAUTHORIZED");
  assertError(await server.request("POST", "/v1/health", { key: "ow_read_x" }), "UNAUTHORIZED");
});

test("400: a path that is not UTF-8", async () => {
  for (const path of ["/v1/keys/%ff", "/v1/keys/%", "/v1/keys/%e0%a4", "/v1/keys/%ed%a0%80/x"]) {
    const answer = await server.request("GET", path, { key: server.keys.admin });
    const { message } = assertError(answer, "VALIDATION_ERROR");
    assert.equal(message, "path must be valid percent-encoded UTF-8");
  }
});

test("500: a bug exposes nothing to the client and is logged once, with the request id", async () => {
  const headers = { "x-request-id": "find-me" };
  const answer = await server.request("GET", "/v1/failing", { key: read, headers });
  const { message } = assertError(answer, "INTERNAL_ERROR");
  assert.equal(message, "Something went wrong on our side");
  assert.doesNotMatch(answer.text, /SELECT|at |\.ts/);
  const lines = server.logged.filter((line) => line.includes("find-me"));
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /SELECT secret/);
  for (const key of Object.values(server.keys)) assert.ok(!server.logged.join().includes(key));
});

test("204: a preflight of an allowed origin, without a key", async () => {
  const headers = { origin, "access-control-request-method": "DELETE" };
  const answer = await server.request("OPTIONS", "/v1/keys/x", { headers });
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.get("access-control-allow-origin"), origin);
  assert.equal(answer.headers.get("access-control-allow-methods"), "GET, HEAD, DELETE, OPTIONS");
  assert.match(answer.headers.get("access-control-allow-headers") ?? "", /X-API-Key/);
  assert.equal(answer.headers.get("vary"), "Origin, Accept-Encoding");
  assert.equal(assertEveryHeader(answer.headers).limit, 100);
});

test("204: preflights of allowed origins do not count toward the limit; other OPTIONS requests do", async () => {
  const own = await openTestServer({ corsOrigins: [origin] });
  const ask = async (headers: Record<string, string>) =>
    own.request("OPTIONS", "/v1/keys", { headers });
  for (let times = 0; times < 3; times += 1) {
    const { headers } = await ask({ origin, "access-control-request-method": "GET" });
    assert.equal(assertEveryHeader(headers).remaining, 100);
  }
  const evil = "https://evil.example.com";
  await ask({ origin });
  await ask({ origin: evil, "access-control-request-method": "GET" });
  await ask({ "access-control-request-method": "GET" });
  const { headers } = await ask({ origin, "access-control-request-method": "GET" });
  assert.equal(assertEveryHeader(headers).remaining, 97);
  await own.close();
});

test("204: OPTIONS from any other origin allows it nothing", async () => {
  const headers = { origin: "https://evil.example.com", "access-control-request-method": "GET" };
  const answer = await server.request("OPTIONS", "/v1/keys", { headers });
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.get("allow"), "POST, GET, HEAD, OPTIONS");
  assert.equal(answer.headers.get("access-control-allow-origin"), null);
  assert.equal(answer.headers.get("access-control-allow-methods"), null);
  assertEveryHeader(answer.headers);
});

test("an allowed origin can read every response, errors included", async () => {
  for (const path of ["/v1/health", "/v1/nothing", "/v1/keys"]) {
    const { headers } = await server.request("GET", path, { headers: { origin } });
    assert.equal(headers.get("access-control-allow-origin"), origin);
    assert.match(headers.get("access-control-expose-headers") ?? "", /X-RateLimit-Remaining/);
  }
});

test("any origin can be allowed", async () => {
  const open = await openTestServer({ corsOrigins: ["*"] });
  const { headers } = await open.request("GET", "/v1/health", { headers: { origin: "null" } });
  assert.equal(headers.get("access-control-allow-origin"), "*");
  await open.close();
});

test("closing does not wait for an idle connection", {
  timeout: waitMsMax,
}, async () => {
  const closing = await openTestServer({ drainTimeoutMs: 2 * waitMsMax });
  const connected = once(closing.http.node, "connection");
  const socket = connect(Number(new URL(closing.url).port), "127.0.0.1");
  const ended = once(socket, "close");
  await connected;
  await closing.close();
  await ended;
});

test("closing does not wait for a kept-alive connection after its response has ended", {
  timeout: waitMsMax,
}, async () => {
  const body = new PassThrough();
  const long = defineRoute({
    path: "/v1/long",
    access: "public",
    summary: "A stream",
    response: Type.String(),
    handler: () => body,
  });
  const closing = await openTestServer({ routes: [long], drainTimeoutMs: 2 * waitMsMax });
  body.write("begun ");
  const answer = await fetch(`${closing.url}/v1/long`);
  assert.equal(answer.headers.get("connection"), "keep-alive");
  const closed = closing.close();
  body.end("and ended");
  assert.equal(await answer.text(), "begun and ended");
  await closed;
});

test("closing waits for the request in flight and then refuses connections", async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const { promise: requested, resolve: ask } = Promise.withResolvers<void>();
  const slow = defineRoute({
    path: "/v1/slow",
    access: "read",
    summary: "Waits for the test",
    response: Type.Object({ done: Type.Boolean() }),
    handler: async () => {
      ask();
      await opened;
      return { done: true };
    },
  });
  const closing = await openTestServer({ routes: [slow] });
  const answer = closing.request("GET", "/v1/slow", { key: closing.keys.read });
  await requested;
  const closed = closing.close();
  open();
  assert.deepEqual((await answer).body, { done: true });
  await closed;
  await assert.rejects(closing.request("GET", "/v1/health"));
});
