/** Tests of the classes that decide whether, and how fast, requests are sent to an endpoint (R6). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AdaptiveTimeout } from "./adaptive-timeout.ts";
import { Breaker } from "./breaker.ts";
import { RequestPacer } from "./request-pacer.ts";

function openBreaker(): Breaker {
  const backoff = { firstMs: 100, maxMs: 1_000 };
  return new Breaker({ failuresMax: 2, backoff, random: () => 1 });
}

test("R6: a breaker opens after consecutive failures, lets one probe pass, and closes on success", () => {
  const breaker = openBreaker();
  breaker.fail(0);
  assert.equal(breaker.state(0), "closed");
  breaker.succeed();
  breaker.fail(0);
  breaker.fail(0);
  assert.equal(breaker.state(99), "open");
  assert(!breaker.tryPass(99));
  assert.equal(breaker.state(100), "half_open");
  assert(breaker.tryPass(100), "one probe");
  assert(!breaker.tryPass(101), "and only one");
  breaker.succeed();
  assert(breaker.tryPass(102));
});

test("R6: a breaker stays open longer after every failed probe, up to the maximum", () => {
  const breaker = openBreaker();
  breaker.fail(0);
  let nowMs = 0;
  const waits = [100, 200, 400, 800, 1_000, 1_000];
  for (const waitMs of waits) {
    breaker.fail(nowMs);
    assert.equal(breaker.state(nowMs + waitMs - 1), "open");
    assert.equal(breaker.state(nowMs + waitMs), "half_open");
    nowMs += waitMs;
  }
});

/** Sends a request of so many calls as soon as the pacer allows it; returns when, and how many calls it can have. */
async function send(pacer: RequestPacer, calls: number, nowMs: number) {
  let atMs = nowMs;
  const clock = {
    nowMs: () => atMs,
    monotonicMs: () => atMs,
    sleep: async (ms: number) => {
      atMs += ms;
    },
  };
  const { signal } = new AbortController();
  const sent = await pacer.awaitTurn(calls, { clock, signal });
  return { atMs, sent };
}

test("R6: requests are not paced until the endpoint refuses one", async () => {
  const pacer = new RequestPacer(null);
  for (let call = 0; call < 1_000; call += 1) assert.equal((await send(pacer, 1, 10)).atMs, 10);
  assert.equal(pacer.callsPerSecond, null);
});

test("R6: after a refusal requests pause for Retry-After, then continue at a lower rate that slowly rises", async () => {
  const pacer = new RequestPacer(null);
  for (let call = 0; call < 100; call += 1) await send(pacer, 1, 2_000);
  pacer.recordRefusal(3_000, 2_000);
  assert.equal(pacer.waitMs(2_000), 3_000);
  assert.equal(pacer.waitMs(4_999), 1);
  assert.equal(pacer.callsPerSecond, 70);
  await assert.rejects(send(pacer, 7, 3_999), { kind: "rate_limited" }, "too long to wait");
  assert.equal((await send(pacer, 7, 4_000)).atMs, 5_000);
  assert.equal(Math.round(pacer.waitMs(5_000)), 100, "seven calls at 70 a second");
  pacer.recordAnswer(1, 5_100);
  assert((pacer.callsPerSecond ?? 0) > 70);
});

test("R6: requests refused at the same time lower the rate once, down to one call a second", async () => {
  const pacer = new RequestPacer(null);
  for (let call = 0; call < 20; call += 1) await send(pacer, 1, 0);
  for (let refusal = 0; refusal < 10; refusal += 1) pacer.recordRefusal(2_000, refusal);
  assert.equal(pacer.callsPerSecond, 14);
  for (let nowMs = 3_000; nowMs < 33_000; nowMs += 3_000) pacer.recordRefusal(2_000, nowMs);
  assert.equal(pacer.callsPerSecond, 1);
});

test("R6: below ten calls a second, it takes two refusals in a row to lower the rate", async () => {
  const pacer = new RequestPacer(null);
  for (let call = 0; call < 10; call += 1) await send(pacer, 1, 0);
  for (const nowMs of [0, 2_000, 4_000]) {
    pacer.recordRefusal(1_000, nowMs);
    assert.equal(pacer.callsPerSecond, 10);
    pacer.recordAnswer(1, nowMs + 500);
  }
  pacer.recordRefusal(1_000, 6_000);
  pacer.recordRefusal(1_000, 8_000);
  assert((pacer.callsPerSecond ?? 0) < 10);
});

test("R6: refusing a smaller request than one just answered does not lower the rate", async () => {
  const pacer = new RequestPacer(null);
  for (let call = 0; call < 40; call += 1) await send(pacer, 1, 0);
  pacer.recordRefusal(null, 0);
  assert.equal(pacer.callsPerSecond, 28);
  pacer.recordAnswer(20, 500);
  for (const nowMs of [2_000, 4_000, 6_000]) {
    assert.equal((await send(pacer, 10, nowMs)).sent, 10);
    pacer.recordRefusal(null, nowMs);
    assert.equal(pacer.pausedMs(nowMs), 250);
    assert.equal(pacer.callsPerSecond, 28);
  }
  const isLowered = () => (pacer.callsPerSecond ?? 0) < 10;
  for (let nowMs = 8_000; nowMs < 40_000 && !isLowered(); nowMs += 2_000) {
    await send(pacer, 10, nowMs);
    pacer.recordRefusal(null, nowMs);
  }
  assert(isLowered(), "after some refusals it may allow less than before");
});

test("R6: after a refusal a request has at most one second's calls", async () => {
  const pacer = new RequestPacer(null);
  assert.equal((await send(pacer, 200, 2_000)).sent, 100);
  pacer.recordRefusal(null, 2_000);
  assert.equal((await send(pacer, 200, 3_000)).sent, 70);
  pacer.recordAnswer(1, 4_000);
  assert.equal((await send(pacer, 200, 4_000)).sent, 87);
  assert.equal((await send(new RequestPacer(7), 200, 0)).sent, 7);
});

test("R6: without Retry-After each refusal doubles the pause, until an answer resets it", async () => {
  const pacer = new RequestPacer(null);
  await send(pacer, 2, 0);
  pacer.recordRefusal(null, 0);
  assert.equal(pacer.waitMs(0), 250);
  pacer.recordRefusal(null, 100);
  assert.equal(pacer.waitMs(100), 150, "a request from before the pause changes nothing");
  pacer.recordRefusal(null, 300);
  assert.equal(pacer.waitMs(300), 500);
  pacer.recordAnswer(1, 900);
  pacer.recordRefusal(null, 1_000);
  assert.equal(pacer.waitMs(1_000), 250);
});

test("R6: Retry-After: 0 is ignored", async () => {
  const pacer = new RequestPacer(null);
  await send(pacer, 1, 0);
  pacer.recordRefusal(3_000, 0);
  pacer.recordRefusal(0, 100);
  assert.equal(pacer.waitMs(100), 2_900);
  pacer.recordRefusal(0, 3_000);
  assert.equal(pacer.waitMs(3_000), 500);
});

test("R6: requests over the budget wait without marking the endpoint paused", async () => {
  const pacer = new RequestPacer(5);
  const sending = send(pacer, 50, 0);
  assert(pacer.waitMs(0) > 9_000);
  assert(pacer.pausedMs(0) <= 0);
  pacer.recordRefusal(3_000, 0);
  assert.equal(pacer.pausedMs(0), 3_000);
  await assert.rejects(sending, { kind: "rate_limited" });
  assert.equal(pacer.waitMs(0), 3_000);
});

test("R6: the operator's budget is never exceeded", async () => {
  const pacer = new RequestPacer(10);
  let nowMs = 0;
  for (let call = 0; call < 50; call += 1) nowMs = (await send(pacer, 1, nowMs)).atMs;
  assert.equal(nowMs, 4_200, "ten at the same time, every second and a little more");
});

test("R6: failures of requests sent before a breaker opened do not keep it open longer", () => {
  const breaker = openBreaker();
  for (let failure = 0; failure < 10; failure += 1) breaker.fail(0);
  assert.equal(breaker.state(100), "half_open");
  assert(breaker.tryPass(100));
  breaker.fail(101);
  assert.equal(breaker.state(299), "open");
  assert.equal(breaker.state(300), "half_open");
});

test("R6: the timeout follows how long the answers of an endpoint take", () => {
  const timeout = new AdaptiveTimeout();
  assert.equal(timeout.timeoutMs, 2_000, "before anything is known");
  timeout.recordAnswer(20);
  assert(timeout.timeoutMs < 500, "one that hangs is noticed soon");
  timeout.recordAnswer(1_000);
  assert(timeout.timeoutMs > 3_000);
  for (let answer = 0; answer < 100; answer += 1) timeout.recordAnswer(20);
  assert(timeout.timeoutMs < 500, "slow answers are forgotten in time");
  assert.equal(new AdaptiveTimeout(2_000).timeoutMs, 2_000);
});

test("R6: a timeout doubles the next one, once for all requests sent at the same time", () => {
  const timeout = new AdaptiveTimeout();
  for (let request = 0; request < 6; request += 1) timeout.recordTimeout(2_000);
  assert.equal(timeout.timeoutMs, 4_000);
  timeout.recordTimeout(4_000);
  timeout.recordTimeout(8_000);
  assert.equal(timeout.timeoutMs, 10_000, "then it is gone");
  timeout.recordAnswer(50);
  assert.equal(timeout.timeoutMs, 550);
});
