/** R6: endpoints that allow fewer calls in a second than a batch can have, in simulated time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address, Hash } from "../../src/base/ids.ts";
import { EndpointError } from "../../src/chain/chain-errors.ts";
import type { OpenTransport } from "../../src/chain/rpc/transport.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { testSeed } from "../support/property-settings.ts";
import { readSimulatedChain } from "../support/read-simulated-chain.ts";
import { ScriptedChain } from "../support/scripted-chain.ts";
import { ScriptedRpc } from "../support/scripted-rpc.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { SimulatedClock } from "../support/simulated-clock.ts";

const lastBlock = 300;
const latencyMs = 50;
const address = `0x${"aa".repeat(20)}` as Address;
const topic = `0x${"11".repeat(32)}` as Hash;
const log = { address, topics: [topic] };
const blocks = buildBlocks(
  Array.from({ length: lastBlock + 1 }, (_, index) => ({ logs: index % 5 === 0 ? [log] : [] })),
);

/** A node that refuses a request for which too few calls are left. Unused calls are saved up for a second. */
function openLimitedNode(clock: SimulatedClock, callsPerSecond: number): OpenTransport {
  const rpc = new ScriptedRpc(new ScriptedChain(blocks), 137);
  let left = callsPerSecond;
  let countedAtMs = 0;
  return () => ({
    isAnnouncing: false,
    replace() {},
    close() {},
    async exchange({ body }, signal) {
      await clock.sleep(latencyMs, signal);
      const nowMs = clock.monotonicMs();
      const regained = ((nowMs - countedAtMs) * callsPerSecond) / 1_000;
      left = Math.min(callsPerSecond, left + regained);
      countedAtMs = nowMs;
      const calls = [JSON.parse(body) as unknown].flat().length;
      if (calls > left) throw new EndpointError("rate_limited", "HTTP 429");
      left -= calls;
      const reply = rpc.reply(body, null);
      assert(reply.kind === "text");
      return { value: JSON.parse(reply.text), bytes: reply.text.length };
    },
  });
}

/** Returns the simulated seconds in which the only endpoint is read completely. */
async function measure(callsPerSecond: number): Promise<number> {
  const clock = new SimulatedClock();
  const random = new SeededRandom(testSeed);
  const openTransport = openLimitedNode(clock, callsPerSecond);
  await readSimulatedChain(blocks, { clock, openTransport, address, topic, random });
  return clock.monotonicMs() / 1_000;
}

for (const callsPerSecond of [2, 5, 10, 15, 30, 60]) {
  test(`R6: the only endpoint is read although it allows ${callsPerSecond} calls a second`, async (t) => {
    const seconds = await measure(callsPerSecond);
    t.diagnostic(`${seconds} s`);
    // Every block takes at least one call. Refused requests, and the pauses after them, take the rest.
    assert(seconds <= (3 * blocks.length) / callsPerSecond, `${seconds} s`);
  });
}
