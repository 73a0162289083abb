/**
 * R5: the cost of random transport failures during a backfill, in simulated time. Ranges keep their
 * size, and other ranges are fetched while one is repeated.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address, Hash } from "../../src/base/ids.ts";
import { EndpointError } from "../../src/chain/chain-errors.ts";
import type { OpenTransport } from "../../src/chain/rpc/transport.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { rangeCap } from "../support/faults.ts";
import { testSeed } from "../support/property-settings.ts";
import { readSimulatedChain } from "../support/read-simulated-chain.ts";
import type { RpcRequest } from "../support/scripted-answers.ts";
import { type ScriptedBlock, toQuantity } from "../support/scripted-block.ts";
import { ScriptedChain } from "../support/scripted-chain.ts";
import { ScriptedRpc } from "../support/scripted-rpc.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { SimulatedClock } from "../support/simulated-clock.ts";

const capBlocks = 100;
const lastBlock = 60_000;
const faultShare = 0.2;
const address = `0x${"aa".repeat(20)}` as Address;
const topic = `0x${"11".repeat(32)}` as Hash;
const log = { address, topics: [topic] };
const blocks = buildBlocks(
  Array.from({ length: lastBlock + 1 }, (_, index) => ({ logs: index % 5 === 0 ? [log] : [] })),
);

type FaultName = "none" | "broken connections" | "requests without an answer";
type Node = {
  readonly latencyMs: number;
  readonly hasLogTimes: boolean;
  readonly fault: FaultName;
};

/** The cost of a backfill, in simulated milliseconds. */
type Cost = { readonly ms: number; readonly requests: number; readonly ranges: number };

async function measure(node: Node): Promise<Cost> {
  const clock = new SimulatedClock();
  const random = new SeededRandom(testSeed);
  const cost = { requests: 0, ranges: 0 };
  let begunMs: number | null = null;
  const chain = node.hasLogTimes ? blocks.map(withLogTimes) : blocks;
  const rpc = new ScriptedRpc(new ScriptedChain(chain), 137);
  rpc.fault(rangeCap(capBlocks, "quicknode"));
  const openTransport: OpenTransport = () => ({
    isAnnouncing: false,
    replace() {},
    close() {},
    async exchange({ body }, signal) {
      cost.requests += 1;
      if (isRange(body)) {
        cost.ranges += 1;
        begunMs ??= clock.monotonicMs();
      }
      const isFaulty = node.fault !== "none" && random.chance(faultShare);
      if (isFaulty && node.fault === "requests without an answer") {
        await clock.sleep(Number.MAX_SAFE_INTEGER, signal);
      }
      await clock.sleep(node.latencyMs * (0.75 + random.next() / 2), signal);
      if (isFaulty) throw new EndpointError("unavailable", "HTTP 502");
      const reply = rpc.reply(body, null);
      assert(reply.kind === "text");
      return { value: JSON.parse(reply.text), bytes: reply.text.length };
    },
  });
  await readSimulatedChain(chain, { clock, openTransport, address, topic, random });
  return { ...cost, ms: clock.monotonicMs() - (begunMs ?? 0) };
}

function isRange(body: string): boolean {
  const requests = JSON.parse(body) as RpcRequest | readonly RpcRequest[];
  return [requests].flat().some(({ params: [filter] }) => {
    return typeof filter === "object" && filter !== null && "fromBlock" in filter;
  });
}

/** Adds the block time to each log, as newer nodes do. */
function withLogTimes(block: ScriptedBlock): ScriptedBlock {
  const blockTimestamp = toQuantity(block.timestamp);
  return { ...block, logs: block.logs.map((log) => ({ ...log, blockTimestamp })) };
}

for (const [latencyMs, hasLogTimes] of [
  [100, true],
  [400, true],
  [400, false],
] as const) {
  const node = { latencyMs, hasLogTimes };
  const where = `${latencyMs} ms away, ${hasLogTimes ? "with" : "without"} log times`;
  test(`R5: a backfill in which every fifth request fails takes at most three times as long, ${where}`, async (t) => {
    const clean = await measure({ ...node, fault: "none" });
    for (const fault of ["broken connections", "requests without an answer"] as const) {
      const cost = await measure({ ...node, fault });
      t.diagnostic(`${fault}: ${JSON.stringify({ clean, cost })}`);
      // A range that fails once takes twice as long, and longer if the second request fails too.
      assert(cost.ms <= 3 * clean.ms, `${fault}: ${cost.ms} ms, not ${clean.ms}`);
      assert(cost.ranges <= 1.5 * clean.ranges, `${fault}: ${cost.ranges}, not ${clean.ranges}`);
    }
  });
}
