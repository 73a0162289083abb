/** R6: a node behind a balancer that lacks any block now and then, in simulated time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address, Hash } from "../../src/base/ids.ts";
import type { OpenTransport } from "../../src/chain/rpc/transport.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { nullResult } from "../support/faults.ts";
import { testSeed } from "../support/property-settings.ts";
import { readSimulatedChain } from "../support/read-simulated-chain.ts";
import { ScriptedChain } from "../support/scripted-chain.ts";
import { ScriptedRpc } from "../support/scripted-rpc.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { SimulatedClock } from "../support/simulated-clock.ts";

const address = `0x${"aa".repeat(20)}` as Address;
const topic = `0x${"11".repeat(32)}` as Hash;
const log = { address, topics: [topic] };
const blocks = buildBlocks(
  Array.from({ length: 1_001 }, (_, index) => ({ logs: index % 5 === 0 ? [log] : [] })),
);

/** Answers `null` to a share of all calls, those for the head, the final block and logs included. */
function openNode(clock: SimulatedClock, random: SeededRandom): OpenTransport {
  const rpc = new ScriptedRpc(new ScriptedChain(blocks), 137);
  rpc.fault(({ method }) => (method !== "eth_chainId" && random.chance(0.3) ? nullResult : null));
  return () => ({
    isAnnouncing: false,
    replace() {},
    close() {},
    async exchange({ body }, signal) {
      await clock.sleep(50, signal);
      const reply = rpc.reply(body, null);
      assert(reply.kind === "text");
      return { value: JSON.parse(reply.text), bytes: reply.text.length };
    },
  });
}

for (const seed of [testSeed, testSeed + 1, testSeed + 2]) {
  test(`R6: the only endpoint is read although it answers null to three of ten calls (seed ${seed})`, async (t) => {
    const clock = new SimulatedClock();
    const random = new SeededRandom(seed);
    const openTransport = openNode(clock, random);
    await readSimulatedChain(blocks, { clock, openTransport, address, topic, random });
    const seconds = clock.monotonicMs() / 1_000;
    t.diagnostic(`${seconds} s`);
    assert(seconds <= 120, `${seconds} s`);
  });
}
