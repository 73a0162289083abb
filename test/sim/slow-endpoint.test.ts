/** R2 and R9 over a wire on which answers take longer than patience usually lasts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openLog } from "../../src/base/log.ts";
import type { OpenTransport } from "../../src/chain/rpc/transport.ts";
import { ChainSource } from "../../src/chain/sync/chain-source.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { SimulatedClock } from "../support/simulated-clock.ts";

const decoder = new LogDecoder(knownContracts());
const slowMs = 2_500;
const blockMs = 2_000;
const firstHead = 600;
const chainId = 137;

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };

function hashOf(number: number): string {
  return `0x${(number + 1).toString(16).padStart(64, "0")}`;
}

function headerOf(number: number): object {
  return {
    number: `0x${number.toString(16)}`,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: `0x${(1_700_000_000 + 2 * number).toString(16)}`,
    logsBloom: `0x${"0".repeat(512)}`,
  };
}

/** A node without the tag of finality, on a chain without logs; `isSlow` says of the methods asked whether they take long. */
function openSlowNode(
  clock: SimulatedClock,
  isSlow: (methods: readonly string[]) => boolean,
): OpenTransport {
  const answer = ({ id, method, params }: Call): object => {
    const reported = (result: unknown): object => ({ jsonrpc: "2.0", id, result });
    const refused = { jsonrpc: "2.0", id, error: { code: -32_602, message: "invalid argument 0" } };
    if (method === "eth_chainId") return reported(`0x${chainId.toString(16)}`);
    if (method === "eth_getLogs") return reported([]);
    if (method !== "eth_getBlockByNumber" || params[0] === "finalized") return refused;
    const head = firstHead + Math.floor(clock.monotonicMs() / blockMs);
    const number = params[0] === "latest" ? head : Number(params[0]);
    return reported(number > head ? null : headerOf(number));
  };
  return () => ({
    isAnnouncing: false,
    replace() {},
    close() {},
    async exchange({ body }, signal) {
      const asked = JSON.parse(body) as Call | readonly Call[];
      const calls = [asked].flat() as readonly Call[];
      await clock.sleep(isSlow(calls.map(({ method }) => method)) ? slowMs : 20, signal);
      const value = Array.isArray(asked) ? calls.map(answer) : answer(asked as Call);
      return { value, bytes: 100 };
    },
  });
}

async function openSource(
  clock: SimulatedClock,
  startBlock: number,
  openTransport: OpenTransport,
): Promise<ChainSource> {
  const opening = ChainSource.open(
    {
      urls: ["http://slow.test"],
      chainId,
      startBlock,
      resumeAfter: null,
      filter: decoder.filter,
      log: openLog({ level: "silent" }),
      clock,
      openTransport,
    },
    ({ blocks }) => blocks,
  );
  let source: ChainSource | null = null;
  void opening.then((opened) => (source = opened));
  await clock.run({ isOver: () => source !== null, limitMs: 60_000 });
  return opening;
}

test("a lone node that is slow and has no finality tag is followed, 256 blocks behind its head", async () => {
  const clock = new SimulatedClock();
  const opened = await openSource(
    clock,
    0,
    openSlowNode(clock, () => true),
  );
  const reading = (async () => {
    for await (const _ of opened.batches());
  })();
  const finalOf = (): number => opened.status.finalized?.number ?? -1;
  await clock.run({ isOver: () => finalOf() > firstHead, limitMs: 3_600_000 });
  const { warnings, head } = opened.status;
  assert.deepEqual(warnings, ["finalized_missing"]);
  assert(finalOf() <= (head?.number ?? 0) - 256);
  opened.close();
  await reading;
});

test("a lone node whose logs come slowly is followed at its head, although its heads come quickly", async () => {
  const clock = new SimulatedClock();
  const isSlow = (methods: readonly string[]) => methods.includes("eth_getLogs");
  const opened = await openSource(clock, firstHead - 100, openSlowNode(clock, isSlow));
  let newest = 0;
  const reading = (async () => {
    for await (const batch of opened.batches()) {
      if (batch.kind === "block") newest = batch.block.number;
    }
  })();
  await clock.run({ isOver: () => newest > firstHead + 10, limitMs: 600_000 });
  assert(newest > firstHead + 10, `${newest}`);
  opened.close();
  await reading;
});
