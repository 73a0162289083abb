/**
 * R10: the command `repair` is killed at random moments. The next repair, or the service, completes it
 * without losing a fact. `REPAIR_KILL_ROUNDS` sets how often.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { openFolder } from "../../src/storage/embedded/open-folder.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { assertLedgerHolds } from "../support/assert-tables-hold.ts";
import { cli } from "../support/cli.ts";
import type { FaultHook } from "../support/faults.ts";
import { testSeed } from "../support/property-settings.ts";
import { assertRecordedTruth } from "../support/recorded/assert-recorded-truth.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { type Stage, serveRecording } from "../support/recorded/serve-recording.ts";
import { readRecordedBlocks } from "../support/recorded-chain.ts";
import { runCommand } from "../support/run-command.ts";
import { requestedRange } from "../support/scripted-answers.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { getFacts } from "../support/store-chain.ts";
import { systemSettings } from "../support/system-settings.ts";

const rounds = Number(process.env["REPAIR_KILL_ROUNDS"] ?? 2);
const recording = readRecording("contracts-a");
const noAudit = { ODDWIRE_AUDIT_CALLS_PER_MINUTE: "0" };

/**
 * The node omits the logs of every seventh block from `eth_getLogs`; its receipts still have them. Blocks at the ends
 * of a range keep their logs: their headers arrive with the range, and their blooms would get the node paused each time.
 */
const forgetful: FaultHook = (request, chain) => {
  const range = requestedRange(request, chain);
  if (range === null) return null;
  const isReported = (block: number) =>
    block % 7 !== 0 || block === range.from || block === range.to;
  return {
    kind: "logs",
    change: (logs) => logs.filter((log) => isReported(Number(log.blockNumber))),
  };
};

/** Starts a repair of all blocks and kills it after `lifeMs`. */
async function repairAndDie({ commandSettings }: Stage, lifeMs: number): Promise<void> {
  const env = { ...systemSettings(), ...commandSettings };
  const child = spawn(process.execPath, [cli, "repair"], { env, stdio: "ignore" });
  const exited = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), lifeMs);
  await exited;
  clearTimeout(timer);
}

/** Measures how long a check of all blocks takes. */
async function measureCheckMs({ commandSettings }: Stage): Promise<number> {
  const startedAt = performance.now();
  const { code, stderr } = await runCommand(["check"], commandSettings);
  assert.equal(code, 2, stderr);
  return performance.now() - startedAt;
}

test(`R10: a repair that is killed ${rounds} times ends complete`, async (t) => {
  t.diagnostic(`seed ${testSeed}`);
  const random = new SeededRandom(testSeed);
  const stage = await serveRecording(t, recording);
  const honest = stage.node.fault(forgetful);
  const service = await stage.startService([stage.node.url], noAudit);
  await service.waitFinalized(stage.head);
  assert.equal(await service.stop(), 0);
  const wholeMs = await measureCheckMs(stage);
  for (let round = 0; round < rounds; round += 1) {
    // Most writes of a repair come after it has read all blocks again.
    await repairAndDie(stage, wholeMs * (0.3 + 1.2 * random.next()));
    // After every other kill, the next repair completes it instead of a service.
    if (round % 2 === 1) continue;
    const again = await stage.startService([stage.node.url], noAudit);
    await again.waitReady();
    await again.kill9();
  }
  const { code, stderr } = await runCommand(["repair"], stage.commandSettings);
  assert.equal(code, 0, stderr);
  honest();
  const right = await stage.startService([stage.node.url], noAudit);
  await assertRecordedTruth(right, recording);
  assert.equal(await right.stop(), 0);
  const facts = await IndexedFacts.open(stage.dataDir, openFolder);
  const blocks = readRecordedBlocks("contracts-a").map((block) => ({ block }));
  try {
    await assertLedgerHolds(facts, getFacts(blocks));
  } finally {
    await facts.close();
  }
});
