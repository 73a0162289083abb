import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { sendRequest } from "./send-request.ts";

let server: Server;
let url: URL;

before(async () => {
  server = createServer((request, response) => {
    if (request.url === "/moved") response.writeHead(302, { Location: "/elsewhere" }).end();
    else if (request.url === "/empty") response.writeHead(204).end();
    else if (request.url === "/cut") {
      response.writeHead(200, { "Content-Length": "100" }).write("a part");
      response.socket?.destroySoon();
    } else {
      const answer = { url: request.url, key: request.headers["x-api-key"] };
      response.writeHead(429, { "Retry-After": "7" }).end(JSON.stringify(answer));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
after(() => server.close());

/** What every request has. */
const plain = { method: "GET", headers: {}, signal: AbortSignal.timeout(60_000) } as const;

test("an answer has its status, headers and body, and its connection is used again", async () => {
  const opened: unknown[] = [];
  server.on("connection", (socket) => opened.push(socket));
  for (let turn = 0; turn < 3; turn += 1) {
    const response = await sendRequest(new URL("/a?b=1", url), {
      ...plain,
      headers: { "X-API-Key": "k" },
    });
    assert.equal(response.status, 429);
    assert.equal(response.headers.get("Retry-After"), "7");
    assert.deepEqual(JSON.parse(await response.text()), { url: "/a?b=1", key: "k" });
  }
  assert.equal(opened.length, 1);
  assert.equal(await (await sendRequest(new URL("/empty", url), plain)).text(), "");
});

test("a redirect is not followed", async () => {
  assert.equal((await sendRequest(new URL("/moved", url), plain)).status, 302);
});

test("a cut answer, a closed port and an abort reject", async () => {
  await assert.rejects(sendRequest(new URL("/cut", url), plain));
  await assert.rejects(sendRequest(new URL("http://127.0.0.1:1"), plain), { code: "ECONNREFUSED" });
  await assert.rejects(sendRequest(url, { ...plain, signal: AbortSignal.abort() }), {
    name: "AbortError",
  });
});
