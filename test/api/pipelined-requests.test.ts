/** Requests that follow each other on a connection without waiting: each is answered, in order. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, test } from "node:test";
import { Type } from "typebox";
import { defineRoute } from "../../src/api/route/route.ts";
import { openTestServer } from "../support/open-test-server.ts";
import { waitFor } from "../support/wait-for.ts";

/** The slow endpoint waits for this promise. */
let gate: Promise<void> = Promise.resolve();
let requested = 0;

const slow = defineRoute({
  path: "/v1/slow",
  access: "read",
  summary: "Answers late",
  response: Type.Object({ text: Type.String() }),
  handler: async () => {
    requested += 1;
    await gate;
    return { text: "x".repeat(1000) };
  },
});
const server = await openTestServer({ routes: [slow], authFailuresMax: 0 });
const { admin } = server.keys;
after(() => server.close());

const key = `host: x\r\nx-api-key: ${admin}\r\n`;
const slowGet = `GET /v1/slow HTTP/1.1\r\n${key}\r\n`;
const json = "content-type: application/json\r\n";

function createKey(name: string, headers = ""): string {
  const body = JSON.stringify({ name });
  const head = `POST /v1/keys HTTP/1.1\r\n${key}${json}${headers}content-length: ${body.length}`;
  return `${head}\r\n\r\n${body}`;
}

/** Splits received text into responses by their lengths. */
function responsesIn(text: string): { status: number; body: string }[] {
  const found: { status: number; body: string }[] = [];
  for (let rest = text; rest !== ""; ) {
    const end = rest.indexOf("\r\n\r\n") + 4;
    const head = rest.slice(0, end);
    assert.match(head, /^HTTP\/1\.1 \d{3} /, `no response begins here: ${rest.slice(0, 200)}`);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    found.push({ status: Number(head.slice(9, 12)), body: rest.slice(end, end + length) });
    rest = rest.slice(end + length);
  }
  return found;
}

/** Sends everything while the slow endpoint waits, then lets it answer. */
async function sendBehindSlow(bytes: string): Promise<ReturnType<typeof responsesIn>> {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const before = requested;
  const answer = server.sendRaw(slowGet + bytes);
  await waitFor("the slow request", async () => requested > before || null);
  resolve();
  return responsesIn(await answer);
}

test("malformed bytes after a request do not replace its response", async () => {
  for (const bytes of [
    "garbage\r\n\r\n",
    `GET /v1/health HTTP/1.1\r\nhost: x\r\nbig: ${"x".repeat(20_000)}\r\n\r\n`,
    "CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n",
  ]) {
    const [first, second, ...rest] = await sendBehindSlow(bytes);
    assert.equal(first?.status, 200, bytes.slice(0, 40));
    assert.equal(JSON.parse(first.body).text.length, 1000);
    assert.equal(Math.floor((second?.status ?? 0) / 100), 4, bytes.slice(0, 40));
    assert.equal(rest.length, 0);
  }
});

test("a key that is created by a request before malformed bytes is returned", async () => {
  const answer = await server.sendRaw(`${createKey("before")}garbage\r\n\r\n`);
  const [created, refused] = responsesIn(answer);
  assert.deepEqual([created?.status, refused?.status], [201, 400]);
  assert.match(JSON.parse(created?.body ?? "").data.key, /^ow_read_/);
});

test("malformed bytes in the body of a request are refused once, after the responses before", async () => {
  const chunked = `POST /v1/keys HTTP/1.1\r\n${key}${json}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n`;
  const statuses = (await sendBehindSlow(chunked)).map(({ status }) => status);
  assert.deepEqual(statuses, [200, 400]);
});

test("Expect: 100-continue after a request does not get into its response", async () => {
  const closing = createKey("pipelined", "expect: 100-continue\r\nconnection: close\r\n");
  const statuses = (await sendBehindSlow(closing)).map(({ status }) => status);
  assert.deepEqual(
    statuses.filter((status) => status !== 100),
    [200, 201],
  );
  assert.notEqual(statuses[0], 100);
});

test("Expect: 100-continue in a single request gets 100 before the body is sent", async () => {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), "127.0.0.1");
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    text += chunk;
  });
  const [head = "", body = ""] = createKey(
    "expected",
    "expect: 100-continue\r\nconnection: close\r\n",
  ).split(/(?<=\r\n\r\n)/);
  socket.write(head);
  await waitFor("100 Continue", async () => text.includes("\r\n\r\n") || null);
  socket.write(body);
  await waitFor("the response", async () => socket.closed || null);
  assert.deepEqual(
    responsesIn(text).map(({ status }) => status),
    [100, 201],
  );
});
