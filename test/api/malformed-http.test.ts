import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, test } from "node:test";
import * as fc from "fast-check";
import {
  assertError,
  assertEveryHeader,
  openTestServer,
  parseRaw,
  type TestAnswer,
} from "../support/open-test-server.ts";
import { RawConnection } from "../support/raw-connection.ts";

const server = await openTestServer({ authFailuresMax: 0 });
const { admin } = server.keys;
after(() => server.close());

async function answerTo(bytes: string | Buffer) {
  server.clock.advance(1000);
  return parseRaw(await server.sendRaw(bytes));
}

function post(headers: string, body: string): string {
  const common = `host: x\r\nx-api-key: ${admin}\r\nconnection: close\r\n`;
  return `POST /v1/keys HTTP/1.1\r\n${common}${headers}\r\n\r\n${body}`;
}

test("400: bytes that are not HTTP get every header and the error shape", async () => {
  const broken = [
    "garbage\r\n\r\n",
    "GET\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    "GET /v1/health HTTP/1.1\r\nhost x\r\n\r\n",
    "GET /v1/health HTTP/1.1\r\nhost: x\r\nbad\u0000name: 1\r\n\r\n",
    "GET /v1/health HTTP/1.1\r\nhost: x\r\nname: a\u0001b\r\n\r\n",
    "FOO /v1/health HTTP/1.1\r\nhost: x\r\n\r\n",
    "GET /v1/\u00ff HTTP/1.1\r\nhost: x\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    `GET /v1/health HTTP/1.1\r\nhost: x\r\nbig: ${"x".repeat(20_000)}\r\n\r\n`,
    `GET /v1/${"x".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    post("content-length: 2\r\ntransfer-encoding: chunked", "{}"),
    post("content-length: x", "{}"),
    post("content-type: application/json\r\ntransfer-encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n"),
    Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
  ];
  for (const bytes of broken) {
    const answer = await answerTo(bytes);
    assertError(answer, "VALIDATION_ERROR");
    assert.equal(answer.headers.get("connection"), "close");
    assert.equal(Number(answer.headers.get("content-length")), answer.text.length);
  }
});

test("400: no Host", async () => {
  const head = "GET /v1/health HTTP/1.1\r\nconnection: close\r\n\r\n";
  const { details } = assertError(await answerTo(head), "VALIDATION_ERROR");
  assert.deepEqual(details, [{ parameter: "host", issue: "header is missing" }]);
});

test("400: more than one Host, or an invalid one", async () => {
  const faults = ["host: x\r\nhost: y", "host: x\r\nhost: x", "Host:\r\nhost:", "host: x y"];
  const requested = [{ parameter: "host", issue: "header must be one host" }];
  for (const lines of faults) {
    const head = `GET /v1/health HTTP/1.1\r\n${lines}\r\nconnection: close\r\n\r\n`;
    const { details } = assertError(await answerTo(head), "VALIDATION_ERROR");
    assert.deepEqual(details, requested);
  }
});

test("400: a body that is empty or not UTF-8", async () => {
  const json = "content-type: application/json\r\n";
  assertError(await answerTo(post(`${json}content-length: 0`, "")), "VALIDATION_ERROR");
  const notUtf8 = Buffer.concat([
    Buffer.from(post(`${json}content-length: 12`, "")),
    Buffer.from('{"name":"'),
    Buffer.from([0xff]),
    Buffer.from('"}'),
  ]);
  assertError(await answerTo(notUtf8), "VALIDATION_ERROR");
});

test("400: a request that is not complete in time", async () => {
  const started = performance.now();
  assertError(await answerTo("GET /v1/health HTTP/1.1\r\nhost"), "VALIDATION_ERROR");
  assert.ok(performance.now() - started < 60_000, "sooner than Node on its own");
});

test("an idle connection is closed without a response and does not use up the limit", async () => {
  const left = async () =>
    assertEveryHeader((await server.request("GET", "/v1/health")).headers).remaining;
  const before = await left();
  assert.equal(await server.sendRaw(""), "");
  assert.equal(await left(), before - 1);
});

test("405: CONNECT and methods that no endpoint has", async () => {
  const methods = ["CONNECT x:443", "PURGE /v1/health", "TRACE /v1/health", "M-SEARCH /v1/health"];
  for (const start of methods) {
    const head = "host: x\r\nx-request-id: mine\r\nconnection: close";
    const answer = await answerTo(`${start} HTTP/1.1\r\n${head}\r\n\r\n`);
    assertError(answer, "METHOD_NOT_ALLOWED");
    assert.equal(answer.headers.get("x-request-id"), "mine");
    assert.match(answer.headers.get("allow") ?? "", /GET, HEAD/);
  }
});

test("404: a request target that is not a path", async () => {
  for (const target of ["GET *", "GET http://x"]) {
    const answer = await answerTo(`${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    assertError(answer, "NOT_FOUND");
  }
});

test("204: OPTIONS * lists the methods of the server", async () => {
  const head = (more: string) => `OPTIONS * HTTP/1.1\r\n${more}connection: close\r\n\r\n`;
  const answer = await answerTo(head("host: x\r\n"));
  assert.equal(answer.status, 204);
  assertEveryHeader(answer.headers);
  assert.equal(answer.headers.get("allow"), "GET, HEAD, POST, DELETE, OPTIONS");
  assert.equal(answer.text, "");
  assertError(await answerTo(head("")), "VALIDATION_ERROR");
});

test("200: unknown expectations, absolute targets, HTTP/1.0 and unknown upgrades are served", async () => {
  const requests = [
    "GET /v1/health HTTP/1.1\r\nhost: x\r\nexpect: a-miracle\r\nconnection: close\r\n\r\n",
    "GET http://x/v1/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    "GET /v1/health HTTP/1.0\r\n\r\n",
    "GET /v1/health HTTP/1.1\r\nhost: x\r\nupgrade: h2c\r\nconnection: upgrade, close\r\n\r\n",
  ];
  for (const bytes of requests) {
    const answer = await answerTo(bytes);
    assert.equal(answer.status, 200);
    assertEveryHeader(answer.headers);
  }
});

test("404: the response says whether the connection stays open", async () => {
  const closed = await answerTo("GET /nope HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  assertError(closed, "NOT_FOUND");
  assert.equal(closed.headers.get("connection"), "close");
  const connection = new RawConnection(Number(new URL(server.url).port));
  try {
    const head = "GET /nope HTTP/1.0\r\nhost: x\r\nconnection: keep-alive\r\n\r\n";
    const kept = await connection.send(head, null, false);
    assert.equal(kept.status, 404);
    assert.equal(kept.headers.get("connection"), "keep-alive");
  } finally {
    connection.close();
  }
});

test("429: malformed bytes use up the limit of the IP", async () => {
  server.clock.advance(60_000);
  for (let sent = 0; sent < 100; sent += 1)
    assertError(parseRaw(await server.sendRaw("x\r\n\r\n")), "VALIDATION_ERROR");
  assertError(parseRaw(await server.sendRaw("x\r\n\r\n")), "RATE_LIMITED");
  server.clock.advance(60_000);
});

test("the server survives a client that disconnects at any point", async () => {
  const whole = post("content-type: application/json\r\ncontent-length: 12", '{"name":"x"}');
  const cuts = Array.from({ length: 20 }, (_, index) => Math.floor((index * whole.length) / 20));
  await Promise.all(cuts.map((cut) => hangUpAfter(whole.slice(0, cut))));
  const tunnel = "CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n";
  await Promise.all(Array.from({ length: 20 }, () => hangUpAfter(tunnel)));
  assert.equal((await server.request("GET", "/v1/health")).status, 200);
  assert.deepEqual(server.logged, []);
});

test("whatever bytes arrive, every response has every header and is not a 5xx", async () => {
  const pieces = [
    "GET ",
    "POST ",
    "/v1/keys",
    " HTTP/1.1",
    "\r\n",
    "host: x",
    "\u0000",
    "%ff",
    "{}",
  ];
  const bytes = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "binary" })), { maxLength: 12 })
    .map((parts) => Buffer.from(`${parts.join("")}\r\n\r\n`, "latin1"));
  await fc.assert(
    fc.asyncProperty(bytes, async (sent) => {
      server.clock.advance(60_000);
      for (const answer of parseAnswers(await sendAndEnd(sent))) {
        assertEveryHeader(answer.headers);
        assert.ok(answer.status < 500);
      }
    }),
    {
      numRuns: 300,
      examples: [[Buffer.from("GET /v1/keys HTTP/1.1\r\n\r\nGET \r\n\r\n")]],
    },
  );
});

/** Splits the bytes of one connection into responses by their `content-length`. */
function parseAnswers(text: string): TestAnswer[] {
  if (text === "") return [];
  const { headers } = parseRaw(text.slice(0, text.indexOf("\r\n\r\n") + 4));
  const end = text.indexOf("\r\n\r\n") + 4 + Number(headers.get("content-length"));
  return [parseRaw(text.slice(0, end)), ...parseAnswers(text.slice(end))];
}

/** Sends bytes and closes the sending side, so that a kept-alive connection ends too. */
function sendAndEnd(bytes: Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(server.url).port) });
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => socket.destroy());
  socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  socket.end(bytes);
  return promise;
}

function hangUpAfter(bytes: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(server.url).port) }, () =>
    socket.write(bytes, () => socket.resetAndDestroy()),
  );
  socket.on("error", () => undefined);
  socket.on("close", () => resolve());
  return promise;
}

test("400: raw UTF-8 in a URL does not count as abuse, and the error says what to do", async () => {
  const own = await openTestServer();
  const bytes = Buffer.from("GET /v1/markets?search=köln HTTP/1.1\r\nhost: x\r\n\r\n", "utf8");
  for (let sent = 0; sent < 3; sent += 1) {
    const { message } = assertError(parseRaw(await own.sendRaw(bytes)), "VALIDATION_ERROR");
    assert.match(message, /percent-encoded as UTF-8/);
  }
  await own.close();
});

test("a refused raw URL is answered with the request id of the client", async () => {
  const first = "GET /v1/health HTTP/1.1\r\nhost: x\r\nx-request-id: first\r\n\r\n";
  const refused = "GET /v1/trades?q=\u00e9 HTTP/1.1\r\nhost: x\r\n";
  const getId = (bytes: string) =>
    /\r\nx-request-id: (\S+)\r\n(?![^]*x-request-id)/i.exec(bytes)?.[1];
  const send = (head: string) => server.sendRaw(Buffer.from(head, "latin1"));
  assert.equal(getId(await send(`${refused}X-Request-Id: mine\r\n\r\n`)), "mine");
  assert.equal(getId(await send(`${first}${refused}X-Request-Id: mine\r\n\r\n`)), "mine");
  for (const id of ["a b", "x".repeat(129), "one\r\nx-request-id: two"])
    assert.match(
      String(getId(await send(`${refused}x-request-id: ${id}\r\n\r\n`))),
      /^[0-9a-f-]{36}$/,
    );
});

test("a request behind an upgrade that is declined is answered", async () => {
  for (const protocol of ["websocket", "h2c"]) {
    const declined = `GET /v1/health HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`;
    const next = "GET /v1/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    const answers = await server.sendRaw(declined + next);
    assert.equal(answers.match(/HTTP\/1\.1 200 OK/g)?.length, 2, answers);
    const between = "GET /v1/nothing HTTP/1.1\r\nhost: x\r\n\r\n";
    const more = await server.sendRaw(between + declined + between + declined + next);
    assert.deepEqual(more.match(/(?<=HTTP\/1\.1 )\d+/g), ["404", "200", "404", "200", "200"]);
  }
});
