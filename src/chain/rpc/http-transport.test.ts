import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { cleanUp } from "../../../test/support/clean-up.ts";
import { EndpointError } from "../chain-errors.ts";
import { HttpTransport } from "./http-transport.ts";
import type { Incoming } from "./transport.ts";

/** Opens a transport to a server that answers with `listener`. */
async function openTransport(t: TestContext, listener: RequestListener): Promise<HttpTransport> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const transport = HttpTransport.open(new URL(`http://127.0.0.1:${port}/v2/secret`));
  cleanUp(t, () => {
    transport.close();
    server.closeAllConnections();
    server.close();
  });
  return transport;
}

function ask(transport: HttpTransport): Promise<Incoming> {
  return transport.exchange({ body: "[]", firstId: 1 }, new AbortController().signal);
}

/** Exchanges one request with a server that answers with `listener`. */
async function exchange(t: TestContext, listener: RequestListener): Promise<Incoming> {
  return ask(await openTransport(t, listener));
}

async function failure(t: TestContext, listener: RequestListener): Promise<EndpointError> {
  const thrown: unknown = await exchange(t, listener).catch((error: unknown) => error);
  assert(thrown instanceof EndpointError, String(thrown));
  assert.doesNotMatch(thrown.message, /secret/);
  return thrown;
}

function answering(status: number, body: string, headers: Record<string, string> = {}) {
  const listener: RequestListener = (_request, response) => {
    response.writeHead(status, headers).end(body);
  };
  return listener;
}

test("an answer is parsed, compressed or not", async (t) => {
  const plain = await exchange(t, answering(200, '[{"id":1}]'));
  assert.deepEqual(plain, { value: [{ id: 1 }], bytes: 10 });
  for (const coding of ["gzip", "GZIP", "x-gzip"]) {
    const zipped = await exchange(t, (request, response) => {
      assert.equal(request.headers["accept-encoding"], "gzip");
      response.writeHead(200, { "content-encoding": coding }).end(gzipSync('[{"id":1}]'));
    });
    assert.deepEqual(zipped, plain);
  }
});

test("R6: a keep-alive connection that the node closed is replaced and counts as no failure", async (t) => {
  const requested = new Map<Socket, number>();
  const transport = await openTransport(t, (request, response) => {
    const { socket } = request;
    requested.set(socket, (requested.get(socket) ?? 0) + 1);
    if (requested.get(socket) === 1) response.end("[]");
    else socket.resetAndDestroy();
  });
  for (let turn = 1; turn <= 3; turn += 1) {
    assert.deepEqual((await ask(transport)).value, []);
    assert.equal(requested.size, turn);
  }
});

test("R6: a new connection that breaks and a truncated response are failures", async (t) => {
  const [atOnce, later] = [{ requests: 0 }, { requests: 0 }];
  const broken = await openTransport(t, ({ socket }) => {
    atOnce.requests += 1;
    socket.resetAndDestroy();
  });
  await assert.rejects(ask(broken), { kind: "unavailable" });
  assert.equal(atOnce.requests, 1);
  const breakingOff = await openTransport(t, ({ socket }, response) => {
    later.requests += 1;
    if (later.requests === 1) response.end("[]");
    else response.write("[", () => socket.resetAndDestroy());
  });
  await ask(breakingOff);
  await assert.rejects(ask(breakingOff), { kind: "unavailable" });
  assert.equal(later.requests, 2, "half an answer is not asked for again here");
});

test("R14: 101 Switching Protocols is a failure", async (t) => {
  const { kind } = await failure(t, ({ socket }) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n");
  });
  assert.equal(kind, "unavailable");
});

test("large answers arrive intact, concurrently and one after the other", async (t) => {
  const transport = await openTransport(t, (request, response) => {
    const seed = Number(request.headers["content-length"]);
    const words = Array.from({ length: 30_000 }, (_, index) => `${seed}:${index * seed}`);
    const body = Buffer.from(JSON.stringify(words));
    response.writeHead(200);
    for (let at = 0; at < body.length; at += 70_001) response.write(body.subarray(at, at + 70_001));
    response.end();
  });
  const ask = async (length: number): Promise<void> => {
    const body = "x".repeat(length);
    const { value } = await transport.exchange({ body, firstId: 1 }, new AbortController().signal);
    const words = value as string[];
    assert.equal(words.length, 30_000);
    for (const [index, word] of words.entries()) assert.equal(word, `${length}:${index * length}`);
  };
  for (let round = 0; round < 3; round += 1) {
    await Promise.all([11, 12, 13, 14].map((length) => ask(length + round * 10)));
  }
});

test("a JSON-RPC error is parsed although the HTTP status is an error", async (t) => {
  const body = '{"id":null,"error":{"code":-32600,"message":"too much"}}';
  for (const status of [400, 413, 500]) {
    assert.deepEqual((await exchange(t, answering(status, body))).value, JSON.parse(body));
  }
});

test("R6: redirects, gateway errors and incomplete JSON are classified as unavailable", async (t) => {
  assert.equal((await failure(t, answering(200, "<html>hello</html>"))).kind, "unavailable");
  assert.equal((await failure(t, answering(200, ""))).kind, "unavailable");
  assert.equal((await failure(t, answering(200, '[{"id":1}'))).kind, "unavailable");
  assert.equal((await failure(t, answering(502, "<html>"))).kind, "unavailable");
  assert.equal((await failure(t, answering(302, "", { location: "/" }))).kind, "unavailable");
  const cut = await failure(t, (_request, response) => {
    response.writeHead(200, { "content-length": "100" }).write("[");
    setImmediate(() => response.destroy());
  });
  assert.equal(cut.kind, "unavailable");
});

test("R6: 429, and 503 with Retry-After, are classified as rate limited", async (t) => {
  const limited = await failure(t, answering(429, "[]", { "retry-after": "7" }));
  assert.deepEqual([limited.kind, limited.retryAfterMs], ["rate_limited", 7_000]);
  const bare = await failure(t, answering(429, "slow down"));
  assert.deepEqual([bare.kind, bare.retryAfterMs], ["rate_limited", null]);
  const busy = await failure(t, answering(503, "busy", { "retry-after": "1" }));
  assert.deepEqual([busy.kind, busy.retryAfterMs], ["rate_limited", 1_000]);
});

test("R6: gateway errors in any format are classified by status and text", async (t) => {
  for (const body of [
    "rate limit exceeded",
    '{"message":"Too many requests"}',
    '{"error":"quota"}',
  ]) {
    assert.equal((await failure(t, answering(403, body))).kind, "rate_limited", body);
  }
  assert.equal((await failure(t, answering(402, ""))).kind, "rate_limited");
  assert.equal((await failure(t, answering(403, '{"message":"Forbidden"}'))).kind, "unavailable");
  assert.equal((await failure(t, answering(400, '{"message":"Bad"}'))).kind, "rejected");
});

test("R6: a rate limit that a gateway reports with status 200 is classified as rate limited", async (t) => {
  const body = '{"message":"API rate limit exceeded"}';
  const limited = await failure(t, answering(200, body, { "retry-after": "7" }));
  assert.deepEqual([limited.kind, limited.retryAfterMs], ["rate_limited", 7_000]);
  for (const other of ['{"message":"Forbidden"}', "7", "null"]) {
    assert.deepEqual((await exchange(t, answering(200, other))).value, JSON.parse(other));
  }
});

test("R5: 413 is an error of the call, so its range is halved", async (t) => {
  for (const body of ["", "<html>413</html>", '{"error":"Payload Too Large"}']) {
    const { value } = await exchange(t, answering(413, body));
    assert.match(JSON.stringify(value), /^{"error":{"message":"HTTP 413/);
  }
});

test("R14: an answer that is too large is aborted, compressed or not", async (t) => {
  const chunk = Buffer.alloc(1024 * 1024, " ");
  const endless = await failure(t, (_request, response) => {
    response.writeHead(200);
    const write = (): void => {
      while (response.write(chunk));
      response.once("drain", write);
    };
    write();
  });
  assert.equal(endless.kind, "oversized");
  const bomb = gzipSync(Buffer.alloc(65 * chunk.length, " "));
  const bombed = await failure(t, (_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
  });
  assert.equal(bombed.kind, "oversized");
});

test("an aborted signal rejects the exchange with its reason", async (t) => {
  const transport = await openTransport(t, () => {});
  const abort = new AbortController();
  const exchanged = transport.exchange({ body: "[]", firstId: 1 }, abort.signal);
  const reason = new Error("enough");
  setImmediate(() => abort.abort(reason));
  await assert.rejects(exchanged, reason);
});
