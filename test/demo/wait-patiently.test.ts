import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { pollReadiness, waitUntilReady } from "../../demo/wait-patiently.ts";
import { cleanUp } from "../support/clean-up.ts";

/** Collects the printed lines. Only the test advances the time. */
function openStage(t: TestContext): {
  readonly lines: string[];
  readonly pass: (ms: number) => void;
} {
  const lines: string[] = [];
  t.mock.method(console, "log", (line: string) => lines.push(line));
  t.mock.timers.enable({ apis: ["setInterval"] });
  return { lines, pass: (ms) => t.mock.timers.tick(ms) };
}

const never = new AbortController().signal;

/** Work that ends only when it is aborted. */
async function hang(signal: AbortSignal): Promise<void> {
  await once(signal, "abort");
  signal.throwIfAborted();
}

test("waiting for long work prints a line every 10 seconds", async (t) => {
  const { lines, pass } = openStage(t);
  const { promise, resolve } = Promise.withResolvers<string>();
  const waiting = waitUntilReady("the chain", never, async () => promise);
  pass(20_000);
  assert.deepEqual(lines, [
    "waiting  for the chain: 10 s so far",
    "waiting  for the chain: 20 s so far",
  ]);
  pass(200_000);
  resolve("ready");
  assert.equal(await waiting, "ready");
  pass(600_000);
  assert.equal(lines.length, 22, "nothing is printed afterwards");
});

test("waiting for work that hangs fails after 5 minutes with a message", async (t) => {
  const { pass } = openStage(t);
  const waiting = waitUntilReady("the chain", never, hang);
  pass(300_000);
  await assert.rejects(waiting, /^Error: waited 5 minutes in vain for the chain$/);
});

test("an abort ends the wait immediately, and an error of the work is thrown unchanged", async () => {
  const stop = new AbortController();
  const waiting = waitUntilReady("the chain", stop.signal, hang);
  stop.abort();
  await assert.rejects(waiting, (error) => error === stop.signal.reason);
  const failing = waitUntilReady("the chain", never, async () => {
    throw new Error("no such program");
  });
  await assert.rejects(failing, /^Error: no such program$/);
});

test("readiness is polled within the rate limit of the IP", async (t) => {
  const requests: number[] = [];
  const server = createServer((_request, response) => {
    requests.push(performance.now());
    if (requests.length === 2) response.writeHead(429, { "Retry-After": "1" }).end();
    else response.writeHead(requests.length < 4 ? 503 : 200).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(t, async () => void server.close());
  const { port } = server.address() as AddressInfo;
  await pollReadiness(`http://127.0.0.1:${port}`, never);
  const [, limited = 0, next = 0] = requests;
  assert.equal(requests.length, 4);
  assert(next - limited > 900, `${next - limited} ms`);
});
