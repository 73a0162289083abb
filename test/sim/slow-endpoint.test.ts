/** R2 and R9 with nodes whose responses take longer than the usual time limits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openLog } from "../../src/base/log.ts";
import type { OpenTransport } from "../../src/chain/rpc/transport.ts";
import { ChainSource, type ChainSourceOptions } from "../../src/chain/sync/chain-source.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { SimulatedClock } from "../support/simulated-clock.ts";

const decoder = new LogDecoder(knownContracts());
const blockMs = 2_000;
const firstHead = 600;
const chainId = 137;

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };

function getHash(number: number): string {
  return `0x${(number + 1).toString(16).padStart(64, "0")}`;
}

function toHeader(number: number): object {
  return {
    number: `0x${number.toString(16)}`,
    hash: getHash(number),
    parentHash: getHash(number - 1),
    timestamp: `0x${(1_700_000_000 + 2 * number).toString(16)}`,
    logsBloom: `0x${"0".repeat(512)}`,
  };
}

/** Nodes without the finalized tag, on a chain without logs. `latencyMs` is the latency of a request to a host. */
function openSlowNodes(
  clock: SimulatedClock,
  latencyMs: (methods: readonly string[], host: string) => number,
): OpenTransport {
  const answer = ({ id, method, params }: Call): object => {
    const reported = (result: unknown): object => ({ jsonrpc: "2.0", id, result });
    const refused = { jsonrpc: "2.0", id, error: { code: -32_602, message: "invalid argument 0" } };
    if (method === "eth_chainId") return reported(`0x${chainId.toString(16)}`);
    if (method === "eth_getLogs") return reported([]);
    if (method !== "eth_getBlockByNumber" || params[0] === "finalized") return refused;
    const head = firstHead + Math.floor(clock.monotonicMs() / blockMs);
    const number = params[0] === "latest" ? head : Number(params[0]);
    return reported(number > head ? null : toHeader(number));
  };
  return ({ host }) => ({
    isAnnouncing: false,
    replace() {},
    close() {},
    async exchange({ body }, signal) {
      const requested = JSON.parse(body) as Call | readonly Call[];
      const calls = [requested].flat() as readonly Call[];
      const methods = calls.map(({ method }) => method);
      await clock.sleep(latencyMs(methods, host), signal);
      const value = Array.isArray(requested) ? calls.map(answer) : answer(requested as Call);
      return { value, bytes: 100 };
    },
  });
}

async function openSource(
  clock: SimulatedClock,
  options: Pick<ChainSourceOptions, "urls" | "startBlock" | "openTransport">,
): Promise<ChainSource> {
  const opening = ChainSource.open(
    {
      ...options,
      chainId,
      filter: decoder.filter,
      log: openLog({ level: "silent" }),
      random: () => 0.5,
      clock,
    },
    ({ blocks }) => blocks,
  );
  let source: ChainSource | null = null;
  void opening.then((opened) => (source = opened));
  await clock.run({ isOver: () => source !== null, limitMs: 60_000 });
  return opening;
}

test("R2: finality of a single slow node without the finalized tag follows 256 blocks behind its head", async () => {
  const clock = new SimulatedClock();
  const openTransport = openSlowNodes(clock, () => 2_500);
  const opened = await openSource(clock, {
    urls: ["http://slow.test"],
    startBlock: 0,
    openTransport,
  });
  const reading = (async () => {
    for await (const _ of opened.batches());
  })();
  const getFinal = (): number => opened.status.finalized?.number ?? -1;
  await clock.run({ isOver: () => getFinal() > firstHead, limitMs: 3_600_000 });
  const { warnings, head } = opened.status;
  assert.deepEqual(warnings, ["finalized_missing"]);
  assert(getFinal() <= (head?.number ?? 0) - 256);
  opened.close();
  await reading;
});

/** Follows the head for five minutes and returns how many blocks the newest emitted block is behind it. */
async function followHead(
  urls: readonly string[],
  latencyMs: (methods: readonly string[], host: string) => number,
): Promise<number> {
  const clock = new SimulatedClock();
  const openTransport = openSlowNodes(clock, latencyMs);
  const opened = await openSource(clock, { urls, startBlock: firstHead - 20, openTransport });
  let newest = 0;
  const reading = (async () => {
    for await (const batch of opened.batches()) {
      if (batch.kind === "block") newest = batch.block.number;
    }
  })();
  const endMs = clock.monotonicMs() + 300_000;
  await clock.run({ isOver: () => clock.monotonicMs() >= endMs, limitMs: 600_000 });
  const head = firstHead + Math.floor(clock.monotonicMs() / blockMs);
  opened.close();
  await reading;
  return head - newest;
}

test("a single node with slow logs and fast heads is followed at its head", async () => {
  const behind = await followHead(["http://slow.test"], (methods) =>
    methods.includes("eth_getLogs") ? 2_500 : 20,
  );
  assert(behind < 20, `${behind} blocks`);
});

test("a node with slow logs delays blocks by at most the time limit at the head", async () => {
  const behind = await followHead(["http://slow.test", "http://quick.test"], (methods, host) => {
    if (host === "quick.test") return 30;
    return methods.includes("eth_getLogs") ? 9_000 : 10;
  });
  assert(behind < 6, `${behind} blocks`);
});
