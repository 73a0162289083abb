/**
 * R7 with the real store and the real auditor. A schedule as in the walk lets endpoints hide logs undetectably,
 * and then rows of the store are deleted or changed. The audit finds all of it and a start repairs it, even while
 * an endpoint omits logs again. The result is compared with the canonical chain alone.
 *
 * `SIMULATION_AUDIT_RUNS` sets the number of runs. With 1, `TEST_SEED=<seed>` repeats one run.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { openLog } from "../../src/base/log.ts";
import { AuditLog } from "../../src/feed/audit-log.ts";
import { Auditor } from "../../src/feed/auditor.ts";
import { rereadFacts } from "../../src/feed/reread-facts.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toFinalDelta } from "../../src/market/delta.ts";
import { encodeFacts } from "../../src/storage/codec/encode-facts.ts";
import { finishRepair, orderRepair } from "../../src/storage/recovery/repair.ts";
import { dropMarketsFile } from "../../src/views/disk/markets-file.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { describeState } from "../support/describe-state.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { counted } from "../support/open-facts.ts";
import { testSeed } from "../support/property-settings.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { getFacts, getRange } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { contracts, decoder, Simulation } from "./simulation.ts";
import { StoreSubject } from "./store-subject.ts";

const runs = Number(process.env["SIMULATION_AUDIT_RUNS"] ?? 1);
const silent = openLog({ level: "silent" });
/** The last block of the only complete audit range: the chain begins at 100 and ends a little above 200. */
const lastAudited = 199;
/** The limit in simulated time. An audit with single calls and refusals takes a minute. */
const lifeMsMax = 3_600_000;

/** Returns the block with one row deleted or changed. */
function damaged(block: BlockFacts, random: SeededRandom): BlockFacts {
  const { fills, events } = block;
  const at = random.integer(0, fills.length + events.length - 1);
  if (at >= fills.length) return { ...block, events: events.toSpliced(at - fills.length, 1) };
  const isLost = random.chance(0.5);
  const changed = fills.slice(at, at + 1).map((fill) => ({ ...fill, size: fill.size + 1n }));
  return { ...block, fills: fills.toSpliced(at, 1, ...(isLost ? [] : changed)) };
}

/** Damages blocks of the store consistently: commit records and candles agree with the wrong rows. */
async function damageStore(
  folder: StoreFolder,
  blocks: readonly BlockFacts[],
  random: SeededRandom,
): Promise<void> {
  const { engine } = folder.store;
  for (const block of blocks) {
    await orderRepair(engine, encodeFacts(getRange([block]), [damaged(block, random)]));
    await finishRepair(engine, () => dropMarketsFile(folder.path));
  }
  await folder.reopen();
}

/** Follows and audits until everything was correct twice or a repair is ordered. Returns whether one is ordered. */
async function live(
  simulation: Simulation,
  { folder, subject }: { readonly folder: StoreFolder; readonly subject: StoreSubject },
): Promise<boolean> {
  const { clock, world } = simulation;
  const opening = simulation.openSource();
  await clock.run({ isOver: getSettled(opening), limitMs: lifeMsMax });
  const source = await opening;
  let isRepairOrdered = false;
  const auditLog = counted(await AuditLog.open(folder.path));
  await auditLog.markOrderedRepaired(clock.nowMs());
  const auditor = new Auditor({
    auditLog,
    facts: folder.store,
    reread: (request) => rereadFacts({ source, decoder }, request),
    endpoints: world.urls.length,
    unproven: () => source.status.unprovenBlocks,
    callsPerMinute: 60_000,
    clock,
    log: silent,
    onRepairOrdered: () => {
      isRepairOrdered = true;
    },
  });
  const { ranges } = auditor.status;
  const following = subject.follow(source);
  auditor.start();
  const isPaused = () => subject.isBusy;
  // A mismatch that no endpoint can settle yet is checked again.
  const isRight = () =>
    auditor.status.ranges >= ranges + 2 &&
    auditor.status.unverified.length === 0 &&
    auditor.status.wrong.length === 0;
  const isOver = () => isRepairOrdered || isRight();
  await clock.run({ isOver, isPaused, limitMs: lifeMsMax });
  assert.equal(auditor.status.wrong.length, isRepairOrdered ? 1 : 0);
  source.close();
  const closing = Promise.all([following, auditor.close()]);
  await clock.run({ isOver: getSettled(closing), isPaused, limitMs: lifeMsMax });
  await closing;
  return isRepairOrdered;
}

function getSettled(task: Promise<unknown>): () => boolean {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  task.then(settle, settle);
  return () => isSettled;
}

function getState(blocks: readonly BlockFacts[]): MarketState {
  const state = new MarketState(contracts, new MemoryStateStore());
  for (const block of blocks) state.apply(toFinalDelta(block));
  return state;
}

describe("R7: the audit finds all wrong facts and a start repairs them", () => {
  for (const seed of Array.from({ length: runs }, (_, index) => testSeed + index)) {
    test(`seed ${seed}`, async (t) => {
      const folder = await StoreFolder.open(t);
      const subject = new StoreSubject(folder);
      const simulation = new Simulation(seed, subject, { hasLimits: true, blocksMin: 110 });
      const { world, random } = simulation;
      world.hideLogs();
      await simulation.run();
      const reported = getFacts(subject.reported.getChain(world)).filter(
        (one) => one.number <= world.finalized,
      );
      const canonical = getFacts(world.blocks.map((block) => ({ block, fills: [] })));
      const right = reported.map((block, index) =>
        block.number <= lastAudited ? (canonical[index] ?? block) : block,
      );
      const candidates = reported.filter(
        ({ number, fills, events }) => number <= lastAudited && fills.length + events.length > 0,
      );
      const victims = Array.from({ length: random.integer(0, 3) }, () => random.pick(candidates));
      await damageStore(folder, [...new Set(victims)], random);
      world.forget(random.pick(candidates).number);

      const hidden = reported.filter((block, index) => !isDeepStrictEqual(block, right[index]));
      let repairs = 0;
      while (await live(simulation, { folder, subject })) {
        repairs += 1;
        assert.equal(repairs, 1, "a repair leaves nothing to repair");
        await subject.crash(random);
      }
      assert.equal(repairs > 0, victims.length + hidden.length > 0);
      await assertTablesHold(await folder.reopen(), right);
      const loaded = new MarketState(contracts, new MemoryStateStore());
      await folder.store.loadView(loaded);
      assert.deepEqual(describeState(loaded), describeState(getState(right)));
      t.diagnostic(`${hidden.length} blocks with hidden logs, ${victims.length} damaged`);
    });
  }
});
