/** What is learned from polled and announced heads, with nodes behind a transport of the test. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pino } from "pino";
import type { Hash } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import type { Header } from "../parse/parse-header.ts";
import { Endpoint } from "../rpc/endpoint.ts";
import { EndpointPool } from "../rpc/endpoint-pool.ts";
import type { OnHead, OnLost } from "../rpc/transport.ts";
import { believedHeadMax, deriveView, HeadWatch } from "./head-watch.ts";

type Call = { readonly id: number; readonly method: string };

const blockMs = 2_000;

function openWatch() {
  let nowMs = 0;
  let head = 100;
  let isAnswering = true;
  let replacements = 0;
  let exchanges = 0;
  let isAnnouncing = false;
  let lose: OnLost = () => {};
  const warnings: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => warnings.push(line) });
  let announce: OnHead = () => {};
  const getHash = (number: number) => `0x${number.toString(16).padStart(64, "0")}` as Hash;
  const answer = ({ id, method }: Call) => {
    const header = {
      number: `0x${head.toString(16)}`,
      hash: getHash(head),
      parentHash: getHash(head - 1),
      timestamp: "0x1",
      logsBloom: `0x${"0".repeat(512)}`,
    };
    return { jsonrpc: "2.0", id, result: method === "eth_chainId" ? "0x89" : header };
  };
  const context = {
    clock: {
      nowMs: () => nowMs,
      monotonicMs: () => nowMs,
      sleep: () => new Promise<never>(() => {}),
    },
    random: () => 0.5,
    log,
    signal: new AbortController().signal,
  };
  const endpoint = new Endpoint({
    url: new URL("ws://node.test"),
    host: "node.test",
    chainId: 137,
    callsPerSecondMax: null,
    context,
    openTransport: (_, onHead, onLost) => {
      announce = onHead;
      lose = onLost;
      return {
        get isAnnouncing() {
          return isAnnouncing;
        },
        replace: () => (replacements += 1),
        close() {},
        async exchange({ body }) {
          exchanges += 1;
          isAnnouncing = true;
          if (!isAnswering) throw new EndpointError("timeout", "no answer in time");
          const requested = JSON.parse(body) as Call | readonly Call[];
          const value = Array.isArray(requested)
            ? requested.map(answer)
            : answer(requested as Call);
          return { value, bytes: 100 };
        },
      };
    },
  });
  const watch = new HeadWatch(new EndpointPool([endpoint], context));
  return {
    watch,
    announce: (number: number) => announce({ number, hash: getHash(number) }),
    /** Lets `blocks` blocks pass. Each is polled, and announced unless the socket is silent. */
    follow: async (blocks: number, { isSilent = false } = {}) => {
      for (let block = 0; block < blocks; block += 1) {
        nowMs += blockMs;
        head += 1;
        if (!isSilent) announce({ number: head, hash: getHash(head) });
        await watch.pollAll();
      }
    },
    answers: (does: boolean) => (isAnswering = does),
    replacements: () => replacements,
    /**
     * Polls every 100 ms for some time, while blocks pass. The socket is closed after each answer and announces nothing,
     * or stays open and announces every block. Returns the exchanges.
     */
    poll: async (seconds: number, isClosing: boolean) => {
      const before = exchanges;
      for (let ms = 0; ms < seconds * 1_000; ms += 100) {
        nowMs += 100;
        if (ms % blockMs === 0) head += 1;
        if (!isClosing) announce({ number: head, hash: getHash(head) });
        const requested = exchanges;
        await watch.pollAll();
        if (!isClosing || exchanges === requested) continue;
        isAnnouncing = false;
        lose("the socket was closed with code 1006");
      }
      return exchanges - before;
    },
    warnings,
  };
}

test("R1: announcements of blocks that do not exist do not change the block time", async () => {
  const { watch, announce, follow } = openWatch();
  await follow(5);
  assert.equal(watch.stallMs, 5 * blockMs);
  for (let number = 1_000; number < 1_100; number += 1) announce(number);
  await follow(20);
  assert.equal(watch.stallMs, 5 * blockMs);
});

test("R6: a socket that announces heads and answers nothing is replaced after every failed probe", async () => {
  const { follow, answers, replacements } = openWatch();
  await follow(2);
  answers(false);
  await follow(2);
  assert.equal(replacements(), 0);
  await follow(1);
  assert.equal(replacements(), 1);
  await follow(1);
  assert.equal(replacements(), 2);
  answers(true);
  await follow(3);
  assert.equal(replacements(), 2);
});

test("R6: a socket that announces nothing while the chain goes on is replaced, and the next one too", async () => {
  const { follow, replacements, warnings } = openWatch();
  await follow(5);
  await follow(5, { isSilent: true });
  assert.equal(replacements(), 0);
  await follow(1, { isSilent: true });
  assert.equal(replacements(), 1);
  assert.match(warnings[0] ?? "", /announces no blocks; reconnecting/);
  await follow(6, { isSilent: true });
  assert.equal(replacements(), 1, "it was silent for less time than the first one");
  await follow(1, { isSilent: true });
  assert.equal(replacements(), 2);
  await follow(20);
  assert.equal(replacements(), 2);
});

test("R6: an endpoint that closes its socket after every answer is connected less and less, and logged once", async () => {
  const { poll, warnings, follow, replacements } = openWatch();
  await follow(2);
  await poll(60, true);
  const perMinute = await poll(60, true);
  assert(perMinute >= 6 && perMinute <= 12, `${perMinute} connections`);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /node\.test.*closed with code 1006.*keeps closing its WebSocket/);
  await poll(60, false);
  assert.equal(await poll(60, false), 600, "it is polled as often as before");
  await poll(60, true);
  assert.equal(warnings.length, 2);
  assert.equal(replacements(), 0, "no socket was open for long enough to be silent");
});

describe("believed heads", () => {
  const endpoints = (...heads: number[]) =>
    heads.map((number) => ({ state: { view: { head: { number } } } }));

  test("reach 64 blocks above the median", () => {
    assert.equal(believedHeadMax(endpoints(1_000, 1_003, 90_000)), 1_067);
    assert.equal(believedHeadMax(endpoints(5, 1_000, 1_003)), 1_064);
    assert.equal(believedHeadMax(endpoints(1_000)), 1_064);
  });

  test("of two endpoints far apart include the higher head", () => {
    assert.equal(believedHeadMax(endpoints(100, 9_000)), 9_064);
  });

  test("do not exist when no endpoint has reported a head", () => {
    assert.equal(believedHeadMax([{ state: { view: null } }]), null);
    assert.equal(believedHeadMax([]), null);
  });
});

function header(number: number): Header {
  const hash = `0x${number.toString(16).padStart(64, "0")}` as Hash;
  return { number, hash, parentHash: hash, timestamp: number, logsBloom: 0n };
}

test("R2: the finalized tag is trusted up to 256 blocks behind the head, and never above it", () => {
  const head = header(1_000);
  const derive = (tag: Header | null) => deriveView({ head, tag, before: null });
  assert.deepEqual(derive(header(744)).final, { number: 744, hash: header(744).hash });
  assert.equal(derive(header(744)).warning, null);
  assert.deepEqual(derive(header(743)).final, { number: 744, hash: null });
  assert.equal(derive(header(743)).warning, "finalized_lagging");
  assert.deepEqual(derive(null).final, { number: 744, hash: null });
  assert.equal(derive(null).warning, "finalized_missing");
  assert.deepEqual(derive(header(1_001)).final, { number: 1_000, hash: null });
});

test("R2: a young chain without the tag has no final block; block 0 is final when the tag is there", () => {
  assert.equal(deriveView({ head: header(255), tag: null, before: null }).final, null);
  const young = deriveView({ head: header(9), tag: header(0), before: null });
  assert.deepEqual([young.final?.number, young.warning], [0, null]);
});

test("R2: a tag that moves back raises a warning until it returns to its earlier block", () => {
  const at = (number: number, before: ReturnType<typeof deriveView> | null) =>
    deriveView({ head: header(1_000), tag: header(number), before });
  const first = at(900, null);
  const back = at(880, first);
  assert.equal(back.warning, "finalized_went_back");
  assert.equal(at(890, back).warning, "finalized_went_back");
  assert.equal(at(900, back).warning, null);
});
