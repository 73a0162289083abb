/** Who can connect, for how long, and how connections end. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { WebSocket } from "ws";
import { webLimits } from "../../src/base/config/limits.ts";
import { DataServer } from "../support/open-data-server.ts";
import { assertError, parseRaw, testQuotas } from "../support/open-test-server.ts";
import { StreamClient } from "../support/stream-client.ts";
import { waitFor } from "../support/wait-for.ts";

const connectionsPerKey = { read: 2, write: 3, admin: 20 };
const quotas = { ...testQuotas, connectionsPerKey, connectionsPerIp: 6 };
const server = await DataServer.open({ finalBlocks: 400, unfinalizedBlocks: 0, quotas });
after(() => server.close());
const { edge } = server;

const upgrade = (more: string, query = "") =>
  `GET /v1/stream${query} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n${more}\r\n`;
const handshake = "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n";

suite("the upgrade", () => {
  test("401 for an invalid key, in plain HTTP with every header", async () => {
    const text = await edge.sendRaw(upgrade(`${handshake}x-api-key: ow_read_nobody\r\n`));
    assertError(parseRaw(text), "UNAUTHORIZED");
  });

  test("400 for a broken handshake or an unknown parameter", async () => {
    assertError(parseRaw(await edge.sendRaw(upgrade(""))), "VALIDATION_ERROR");
    const text = await edge.sendRaw(upgrade(handshake, "?compres=zlib"));
    const { message } = assertError(parseRaw(text), "VALIDATION_ERROR");
    assert.match(message, /did you mean compress/);
    const hostless = upgrade(handshake).replace("host: x\r\n", "");
    const { message: missing } = assertError(
      parseRaw(await edge.sendRaw(hostless)),
      "VALIDATION_ERROR",
    );
    assert.equal(missing, "host header is missing");
  });

  test("400 for a request without an upgrade, 405 with Allow for other methods", async () => {
    const { message } = assertError(await edge.request("GET", "/v1/stream"), "VALIDATION_ERROR");
    assert.equal(message, "upgrade must be websocket to open the stream");
    const misspelt = await edge.request("GET", "/v1/stream?compres=zlib");
    assert.match(assertError(misspelt, "VALIDATION_ERROR").message, /did you mean compress/);
    const posted = await edge.request("POST", "/v1/stream");
    assertError(posted, "METHOD_NOT_ALLOWED");
    assert.equal(posted.headers.get("allow"), "GET, HEAD, OPTIONS");
  });

  test("400 for a compression that the client does not offer", async () => {
    for (const [query, status] of [
      ["?compress=permessage-deflate", 400],
      ["", 101],
    ] as const) {
      const socket = new WebSocket(`${edge.url.replace("http", "ws")}/v1/stream${query}`, {
        perMessageDeflate: false,
      });
      const answered = await new Promise<number | undefined>((resolve) => {
        socket.on("unexpected-response", (_request, response) => resolve(response.statusCode));
        socket.on("upgrade", (response) => resolve(response.statusCode));
      });
      assert.equal(answered, status);
      socket.on("error", () => {});
      socket.terminate();
    }
    const text = await edge.sendRaw(upgrade(handshake, "?compress=permessage-deflate"));
    const { message } = assertError(parseRaw(text), "VALIDATION_ERROR");
    assert.match(message, /compress needs a client that offers/);
  });

  test("403 from a blocked IP; open streams continue", async () => {
    const key = edge.keys.admin;
    const client = await StreamClient.open(edge.url, { key });
    const anonymous = await StreamClient.open(edge.url);
    const blockedAtMs = edge.clock.nowMs();
    const block = { reason: "failed_authentication", offenses: 1, blockedAtMs } as const;
    const bucket = "127.0.0.1";
    edge.access.ipBlocks.put({ ...block, bucket, blockedUntilMs: blockedAtMs + 60_000 });
    const text = await edge.sendRaw(upgrade(`${handshake}x-api-key: ${key}\r\n`));
    assertError(parseRaw(text), "IP_BLOCKED");
    await client.subscribe({ type: "trades" });
    anonymous.send({ action: "auth", api_key: key });
    const { error } = await anonymous.next("error");
    assert.equal((error as { code: string }).code, "IP_BLOCKED");
    assert.equal((await anonymous.untilClosed()).code, 4001);
    edge.clock.advance(60_001);
    client.close();
    await client.untilClosed();
  });

  test("101 from a page of any origin, without CORS headers", async () => {
    const socket = new WebSocket(`${edge.url.replace("http", "ws")}/v1/stream`, {
      origin: "https://evil.example.com",
    });
    const headers = await new Promise<Record<string, unknown>>((resolve) => {
      socket.on("upgrade", (response) => resolve(response.headers));
    });
    const cors = Object.keys(headers).filter((name) => name.startsWith("access-control"));
    assert.deepEqual(cors, []);
    socket.on("error", () => {});
    socket.terminate();
  });

  test("101 without a key, whose frame follows, when the IP has used up its limit", async () => {
    edge.clock.advance(60_001);
    for (let request = 0; request < webLimits.ipRequestsPerMinute; request += 1) {
      assert.equal((await edge.request("GET", "/v1/health")).status, 200);
    }
    assertError(await edge.request("GET", "/v1/health"), "RATE_LIMITED");
    const client = await StreamClient.open(edge.url);
    client.send({ action: "auth", api_key: edge.keys.admin });
    await client.subscribe({ type: "trades" });
    client.close();
    await client.untilClosed();
    edge.clock.advance(60_001);
  });

  test("429 over the limit of upgrades without a key; with a key, its own limit applies", async () => {
    const { upgradesPerMinute } = webLimits;
    const nowMs = edge.clock.monotonicMs();
    for (let sent = 0; sent < upgradesPerMinute; sent += 1)
      edge.access.ipWindow.acquire("upgrade 127.0.0.1", upgradesPerMinute, nowMs);
    const limited = parseRaw(await edge.sendRaw(upgrade(handshake)));
    assertError(limited, "RATE_LIMITED");
    assert.ok(Number(limited.headers.get("retry-after")) > 0);
    assert.equal(limited.headers.get("x-ratelimit-remaining"), "100");
    (await StreamClient.open(edge.url, { key: edge.keys.admin })).close();
    edge.clock.advance(60_001);
  });

  test("400 names the version of the protocol to use", async () => {
    for (const other of ["8", "14", "13.0", "13, 8", ""]) {
      const requested = handshake.replace("version: 13", `version: ${other}`);
      const refused = parseRaw(await edge.sendRaw(upgrade(requested)));
      assertError(refused, "VALIDATION_ERROR");
      assert.equal(refused.headers.get("sec-websocket-version"), "13");
    }
  });

  test("101 has the headers of every response", async () => {
    const socket = new WebSocket(`${edge.url.replace("http", "ws")}/v1/stream`, {
      headers: { "x-api-key": edge.keys.admin, "x-request-id": "mine" },
    });
    const headers = await new Promise<Record<string, unknown>>((resolve) => {
      socket.on("upgrade", (response) => resolve(response.headers));
    });
    assert.equal(headers["x-request-id"], "mine");
    assert.equal(headers["x-ratelimit-limit"], "5000");
    assert.equal(headers["x-frame-options"], "DENY");
    socket.close();
  });
});

test("4029 when a key has too many connections; a close frees one", async () => {
  const key = edge.keys.read;
  const clients = [
    await StreamClient.open(edge.url, { key }),
    await StreamClient.open(edge.url, { key }),
  ];
  const third = new WebSocket(`${edge.url.replace("http", "ws")}/v1/stream`, {
    headers: { "x-api-key": key },
  });
  const code = await new Promise((resolve) => {
    third.on("close", resolve);
  });
  assert.equal(code, 4029);
  const late = await StreamClient.open(edge.url);
  late.send({ action: "auth", api_key: key });
  assert.deepEqual(await late.untilClosed(), { code: 4029, reason: "too many connections" });
  for (const client of clients) client.close();
  for (const client of clients) await client.untilClosed();
  const again = await waitFor("a place", async () =>
    StreamClient.open(edge.url, { key }).catch(() => null),
  );
  again.close();
});

test("4029 when an IP has too many connections, including those without a key", async () => {
  const anonymous = await Promise.all(
    Array.from({ length: quotas.connectionsPerIp }, async () => StreamClient.open(edge.url)),
  );
  const one = new WebSocket(`${edge.url.replace("http", "ws")}/v1/stream`, {
    headers: { "x-api-key": edge.keys.admin },
  });
  const code = await new Promise((resolve) => {
    one.on("close", resolve);
  });
  assert.equal(code, 4029);
  edge.clock.advance(10_001);
  for (const client of anonymous) assert.equal((await client.untilClosed()).code, 4001);
});

test("4001 before the revocation of the key is answered", async () => {
  const input = { name: "to revoke", scope: "read", expiresAtMs: null, allowedIps: [] } as const;
  const { key, value } = await edge.access.keys.create(input);
  const client = await StreamClient.open(edge.url, { key: value });
  await client.subscribe({ type: "trades" });
  await edge.request("DELETE", `/v1/keys/${key.id}`, { key: edge.keys.admin });
  await server.advance({ unfinalized: server.newestBlock + 30 });
  assert.equal((await client.untilClosed()).code, 4001);
  assert.equal(client.events().length, 0);
});

test("4001 when the key has expired", async () => {
  const expiresAtMs = edge.clock.nowMs() + 60_000;
  const input = { name: "to expire", scope: "read", expiresAtMs, allowedIps: [] } as const;
  const { value } = await edge.access.keys.create(input);
  const client = await StreamClient.open(edge.url, { key: value });
  edge.clock.advance(61_000);
  assert.equal((await client.untilClosed()).code, 4001);
});

test("4001 for an invalid key in the first frame", async () => {
  // The first character differs from that of the valid key only above its low byte.
  const { admin } = edge.keys;
  const other = String.fromCharCode(admin.charCodeAt(0) + 256) + admin.slice(1);
  for (const api_key of ["nonsense", other]) {
    const client = await StreamClient.open(edge.url);
    client.send({ action: "auth", api_key });
    assert.equal((await client.untilClosed()).code, 4001);
  }
});

test("4008 for a frame over 64 KiB", async () => {
  const client = await StreamClient.open(edge.url, { key: edge.keys.admin });
  client.send(" ".repeat(65 * 1024));
  assert.equal((await client.untilClosed()).code, 4008);
});

test("permessage-deflate on request only", async () => {
  const options = { key: edge.keys.admin, perMessageDeflate: true };
  const plain = await StreamClient.open(edge.url, options);
  assert.equal(plain.socket.extensions, "");
  const query = "?compress=permessage-deflate";
  const deflated = await StreamClient.open(edge.url, { ...options, query });
  assert.match(deflated.socket.extensions, /permessage-deflate/);
  const { subscription_id: id } = await deflated.subscribe({ type: "trades" }, { resume_from: 0 });
  await deflated.next("replay_complete");
  assert(deflated.events(id).length > 0);
  for (const client of [plain, deflated]) client.close();
});

test("4003 when the service stops, and 503 for upgrades in the meantime", async () => {
  const client = await StreamClient.open(edge.url, { key: edge.keys.read });
  const closing = edge.stream?.close();
  const text = await edge.sendRaw(upgrade(`${handshake}x-api-key: ${edge.keys.read}\r\n`));
  assert.match(assertError(parseRaw(text), "SERVICE_UNAVAILABLE").message, /stopping/);
  await closing;
  const { code, reason } = await client.untilClosed();
  assert.equal(code, 4003);
  assert.match(reason, /reconnect/);
});
