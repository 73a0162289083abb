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

/** Whether a node refuses a request of so many calls at `nowMs`. */
type Refusal = (calls: number, nowMs: number) => boolean;

function openRefusingNode(clock: SimulatedClock, isRefused: Refusal): OpenTransport {
  const rpc = new ScriptedRpc(new ScriptedChain(blocks), 137);
  return () => ({
    isAnnouncing: false,
    replace() {},
    close() {},
    async exchange({ body }, signal) {
      await clock.sleep(latencyMs, signal);
      const calls = [JSON.parse(body) as unknown].flat().length;
      if (isRefused(calls, clock.monotonicMs())) {
        throw new EndpointError("rate_limited", "HTTP 429");
      }
      const reply = rpc.reply(body, null);
      assert(reply.kind === "text");
      return { value: JSON.parse(reply.text), bytes: reply.text.length };
    },
  });
}

/** Refuses a request for which too few calls are left. Unused calls are saved up for a second. */
function refuseAbove(callsPerSecond: number): Refusal {
  let left = callsPerSecond;
  let countedAtMs = 0;
  return (calls, nowMs) => {
    const regained = ((nowMs - countedAtMs) * callsPerSecond) / 1_000;
    left = Math.min(callsPerSecond, left + regained);
    countedAtMs = nowMs;
    if (calls > left) return true;
    left -= calls;
    return false;
  };
}

/** Returns the simulated seconds in which the only endpoint is read completely. */
async function measure(isRefused: Refusal): Promise<number> {
  const clock = new SimulatedClock();
  const random = new SeededRandom(testSeed);
  const openTransport = openRefusingNode(clock, isRefused);
  await readSimulatedChain(blocks, { clock, openTransport, address, topic, random });
  return clock.monotonicMs() / 1_000;
}

// Every block takes at least one call. Refused requests, and the pauses after them, take the rest.
const mostTimesByRate = { 2: 8, 5: 8, 10: 3, 15: 3, 30: 3, 60: 3 };
for (const [rate, mostTimes] of Object.entries(mostTimesByRate)) {
  test(`R6: the only endpoint is read although it allows ${rate} calls a second`, async (t) => {
    const seconds = await measure(refuseAbove(Number(rate)));
    t.diagnostic(`${seconds} s`);
    assert(seconds <= (mostTimes * blocks.length) / Number(rate), `${seconds} s`);
  });
}

// The median, because a few refusals in a row at the start can take a minute.
const medianSecondsMax = { 3: 60, 5: 180 };
for (const [refused, secondsMax] of Object.entries(medianSecondsMax)) {
  test(`R6: the only endpoint is read although it refuses ${refused} of 10 requests at any rate`, async (t) => {
    const seconds: number[] = [];
    for (let run = 0; run < 9; run += 1) {
      const random = new SeededRandom(testSeed + run);
      seconds.push(await measure(() => random.next() < Number(refused) / 10));
    }
    seconds.sort((one, other) => one - other);
    t.diagnostic(seconds.join(" s, "));
    assert((seconds[4] ?? 0) <= secondsMax, `${seconds[4]} s`);
  });
}
