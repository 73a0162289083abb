/** A lake on a server that redirects, cuts, lies or stops. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Writable } from "node:stream";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { cleanUp } from "../../../test/support/clean-up.ts";
import { LakeError } from "../../lake/lake-error.ts";
import { mayHaveKey, openHttpLake } from "./http-lake.ts";

const content = Buffer.from("0123456789".repeat(1000));
const { signal } = new AbortController();

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function read(
  url: string,
  {
    bytesMax = 20_000,
    allowPrivate = false,
    key = "secret",
  }: { bytesMax?: number; allowPrivate?: boolean; key?: string | null } = {},
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const patience = { silenceMs: 300, retryMs: 1 };
  const lake = openHttpLake({ url, key, allowPrivate, signal, patience });
  for await (const piece of lake.read("manifest.json", bytesMax)) pieces.push(piece);
  return Buffer.concat(pieces);
}

function isRefused(message: RegExp) {
  return (thrown: unknown) => thrown instanceof LakeError && message.test(thrown.message);
}

test("a broken download resumes at the byte where it broke", async (t) => {
  const ranges: (string | undefined)[] = [];
  const url = await serve(t, ({ headers }, response) => {
    ranges.push(headers.range);
    const from = Number(/\d+/.exec(headers.range ?? "")?.[0] ?? 0);
    response.writeHead(from === 0 ? 200 : 206, { "content-length": content.length - from });
    if (from > 0) response.end(content.subarray(from));
    else response.write(content.subarray(0, 4000), () => response.destroy());
  });
  assert.deepEqual(await read(url), content);
  assert.equal(ranges.length, 2);
  assert.equal(ranges[0], undefined);
});

test("a server that always fails, refuses or sends too much fails with one sentence", async (t) => {
  const broken = await serve(t, (_request, response) => void response.destroy());
  await assert.rejects(read(broken), isRefused(/manifest\.json cannot be read: /));
  const missing = await serve(t, (_request, response) => void response.writeHead(404).end());
  await assert.rejects(read(missing), isRefused(/answers with status 404/));
  const closed = await serve(t, (_request, response) => void response.writeHead(401).end());
  await assert.rejects(
    read(closed),
    isRefused(/answers with status 401: it does not accept the key/),
  );
  await assert.rejects(read(closed, { key: null }), isRefused(/status 401: it needs --key-file/));
  const moved = await serve(t, (_request, response) => {
    response.writeHead(302, { location: closed }).end();
  });
  await assert.rejects(read(moved, { allowPrivate: true }), isRefused(/not sent to another/));
  const large = await serve(t, (_request, response) => void response.end(content));
  await assert.rejects(read(large, { bytesMax: 100 }), isRefused(/more than 100 bytes/));
  const encoded = await serve(t, ({ headers }, response) => {
    assert.equal(headers["accept-encoding"], "identity");
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(content));
  });
  await assert.rejects(read(encoded), isRefused(/sent with Content-Encoding gzip: serve/));
});

test("a server with a slow header or body fails with one sentence", async (t) => {
  const trickle = (stream: Writable) => {
    const timer = setInterval(() => stream.write("x"), 20);
    stream.on("error", () => {}).on("close", () => clearInterval(timer));
  };
  const body = await serve(t, (_request, response) => trickle(response));
  await assert.rejects(read(body), isRefused(/cannot be read: the server sent \d+ bytes in/));
  const silent = await serve(t, (_request, response) => void response.write("x"));
  await assert.rejects(read(silent), isRefused(/cannot be read: /));
  const header = await serve(t, (_request, { socket }) => {
    socket?.write("HTTP/1.1 200 OK\r\nx-slow: ");
    if (socket) trickle(socket);
  });
  await assert.rejects(read(header), isRefused(/cannot be read: no byte for/));
});

test("a busy server is retried; one without byte ranges sends the whole file again", async (t) => {
  let requests = 0;
  const times: number[] = [];
  const url = await serve(t, (_request, response) => {
    requests += 1;
    times.push(performance.now());
    if (requests === 1) response.writeHead(429, { "retry-after": "1" }).end();
    else if (requests > 2) response.end(content);
    else response.write(content.subarray(0, 4000), () => response.destroy());
  });
  assert.deepEqual(await read(url), content);
  assert.equal(requests, 3);
  const [first = 0, second = 0] = times;
  assert(second - first > 950, "the server is asked again when it says");
  const busy = await serve(t, (_request, response) => void response.writeHead(503).end());
  await assert.rejects(read(busy), isRefused(/cannot be read: the server answers 503/));
});

test("a query of the address is sent with each file, and never printed", async (t) => {
  const urls: (string | undefined)[] = [];
  const url = await serve(t, ({ url: path }, response) => {
    urls.push(path);
    response.writeHead(404).end();
  });
  await assert.rejects(read(`${url}/lake?token=secret`), {
    message: `${url}/lake/manifest.json answers with status 404`,
  });
  assert.deepEqual(urls, ["/lake/manifest.json?token=secret"]);
});

test("a redirect to a loopback or private address is refused unless it is allowed, and takes no key", async (t) => {
  const keys: unknown[] = [];
  const target = await serve(t, ({ headers }, response) => {
    keys.push(headers["x-api-key"]);
    response.end(content);
  });
  const redirecting = (location: string) =>
    serve(t, ({ headers }, response) => {
      keys.push(headers["x-api-key"]);
      response.writeHead(302, { location }).end();
    });
  const hosts = [
    "10.1.2.3",
    "[::1]",
    "169.254.169.254",
    "localhost",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",
    "0x7f.1",
    "2130706433",
    "100.64.0.1",
    "198.18.0.1",
    "[::127.0.0.1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[fec0::1]",
    "[ff02::1]",
  ];
  for (const host of hosts) {
    const url = await redirecting(`http://${host}:1/`);
    await assert.rejects(read(url), isRefused(/redirects to .* private address/), host);
  }
  await assert.rejects(read(await redirecting(target)), isRefused(/--allow-private/));
  await assert.rejects(
    read(await redirecting("file:///etc/passwd")),
    isRefused(/redirects to file:/),
  );
  keys.length = 0;
  const url = await redirecting(`${target}/elsewhere`);
  assert.deepEqual(await read(url, { allowPrivate: true }), content);
  assert.deepEqual(keys, ["secret", undefined]);
  const turning = await serve(t, ({ url: path = "" }, response) => {
    response.writeHead(302, { location: path }).end();
  });
  await assert.rejects(read(turning, { allowPrivate: true }), isRefused(/more than 5 times/));
});

test("a key goes only to the host that was named, and not out of TLS", () => {
  const cases = [
    ["https://a.test/x", "https://a.test/lake", true],
    ["https://a.test/x", "http://a.test/lake", true],
    ["http://a.test/x", "https://a.test/lake", false],
    ["https://a.test:8443/x", "https://a.test/lake", false],
    ["https://b.test/x", "https://a.test/lake", false],
  ] as const;
  for (const [url, base, expected] of cases)
    assert.equal(mayHaveKey(new URL(url), new URL(base)), expected, url);
});
