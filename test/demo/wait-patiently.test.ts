import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { waitUntilReady } from "../../demo/wait-patiently.ts";

/** What is printed while time, which only the test moves on, passes. */
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

test("work of minutes is waited for, with a line now and then", async (t) => {
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

test("what hangs is given up with a sentence", async (t) => {
  const { pass } = openStage(t);
  const waiting = waitUntilReady("the chain", never, hang);
  pass(300_000);
  await assert.rejects(waiting, /^Error: waited 5 minutes in vain for the chain$/);
});

test("who stops does not wait, and failures are thrown as they are", async () => {
  const stop = new AbortController();
  const waiting = waitUntilReady("the chain", stop.signal, hang);
  stop.abort();
  await assert.rejects(waiting, (error) => error === stop.signal.reason);
  const failing = waitUntilReady("the chain", never, async () => {
    throw new Error("no such program");
  });
  await assert.rejects(failing, /^Error: no such program$/);
});
