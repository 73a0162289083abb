/** A repair replaces wrong rows with correct ones, even if its process is killed at any write. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { storeLimits } from "../../src/base/config/limits.ts";
import { toFirstSeq } from "../../src/base/ids.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import type { Engine } from "../../src/storage/engine/engine.ts";
import { finishRepair, orderRepair } from "../../src/storage/recovery/repair.ts";
import { dropMarketsFile } from "../../src/views/disk/markets-file.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts } from "../support/append-facts.ts";
import { appendPart, tables } from "../support/append-part.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { MortalEngine } from "../support/mortal-engine.ts";
import { embeddedOnly, isOnServer } from "../support/open-facts.ts";
import { testSeed } from "../support/property-settings.ts";
import { encode, getFacts, getFills, withLedger } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

/** Seconds before a block, by its index: an hour ends within the repaired blocks, and a day ends after them. */
const pauses: Readonly<Record<number, number>> = { 20: 3600, 33: 86_400 };
/** The blocks are close in time, so that minutes span the ends of the repaired range. */
const plans = fc
  .sample(anyBlockPlan(), { seed: testSeed, numRuns: 40 })
  .map((plan, index) => ({ ...plan, secondsLater: pauses[index] ?? plan.secondsLater % 20 }));
const blocks = withLedger(getFacts(buildChain(plans)));
const [from, to] = [12, 27];
const repaired = blocks.slice(from, to);

/** A block as a node that omits and changes logs would have led to it. */
function distorted(block: BlockFacts): BlockFacts {
  return {
    ...block,
    fills: block.fills
      .filter((_, index) => index % 3 !== 1)
      .map((fill, index) => (index % 2 === 1 ? { ...fill, value: fill.value + 1n } : fill)),
    events: block.events.slice(1),
    quarantined: block.quarantined.slice(1),
  };
}

async function fill(store: IndexedFacts, facts: readonly BlockFacts[]): Promise<void> {
  for (const size of [0, 10, 20, 30])
    await appendFacts(store, encode(facts.slice(size, size + 10)));
}

/** Kills come before every fourth write, on a server before every eighth. `REPAIR_KILLS=all`: before each write. */
const stride = process.env["REPAIR_KILLS"] === "all" ? 1 : isOnServer ? 8 : 4;

const wrongBlocks = blocks.map((block, index) =>
  index >= from && index < to ? distorted(block) : block,
);

/** A clock that does not wait for readers of a server, of which there are none. */
const clock = { sleep: async () => {} };

function finish(engine: Engine): Promise<void> {
  return finishRepair(engine, () => {}, clock);
}

async function repairDying(engine: Engine, writes: number): Promise<boolean> {
  const mortal = new MortalEngine(engine, writes);
  try {
    await orderRepair(mortal, encode(repaired));
    await finish(mortal);
    return true;
  } catch (thrown) {
    assert.equal((thrown as Error).message, "killed");
    return false;
  }
}

describe("a repair", () => {
  test("corrects every table, candle minute and commit record", async (t) => {
    const folder = await StoreFolder.open(t);
    await fill(folder.store, wrongBlocks);
    await assert.rejects(assertTablesHold(folder.store, blocks));
    await orderRepair(folder.store.engine, encode(repaired));
    await finishRepair(folder.store.engine, () => dropMarketsFile(folder.path), clock);
    await assertTablesHold(folder.store, blocks);
    await assertTablesHold(await folder.reopen(), blocks);
  });

  test("of several ranges is one operation", async (t) => {
    const folder = await StoreFolder.open(t);
    await fill(folder.store, wrongBlocks);
    const parts = [blocks.slice(from, from + 1), blocks.slice(from + 1, to)];
    for (const part of parts) await orderRepair(folder.store.engine, encode(part));
    await assertTablesHold(await folder.reopen(), blocks);
  });

  test("is ordered again after an order that failed", { skip: embeddedOnly }, async (t) => {
    const folder = await StoreFolder.open(t);
    const { engine } = folder.store;
    await fill(folder.store, wrongBlocks);
    await orderRepair(engine, encode(blocks.slice(from, from + 1)));
    const rest = blocks.slice(from + 1, to);
    for (const writes of [2, 4, 8]) {
      const mortal = new MortalEngine(engine, writes);
      await assert.rejects(orderRepair(mortal, encode(rest)), /killed/);
    }
    await orderRepair(engine, encode(rest));
    await assertTablesHold(await folder.reopen(), blocks);
  });

  test("does not need the rows above it to be trimmed first, which a crash has left", async (t) => {
    const folder = await StoreFolder.open(t);
    // They share minutes and hours with the repaired blocks.
    const [kept, lost] = [blocks.slice(0, to), blocks.slice(to, 33)];
    await appendFacts(folder.store, encode(wrongBlocks.slice(0, to)));
    await appendPart(folder.store, encode(lost), tables.slice(0, -1));
    const { engine } = folder.store;
    await orderRepair(engine, encode(repaired));
    await finish(engine);
    const store = await folder.reopen();
    if (!isOnServer) await assertTablesHold(store, kept);
    await appendFacts(store, encode(lost));
    await assertTablesHold(store, [...kept, ...lost]);
  });

  test("deletes duplicate rows and rows that do not belong to any block", async (t) => {
    const folder = await StoreFolder.open(t);
    await fill(folder.store, blocks);
    const { engine } = folder.store;
    const inside = `seq >= ${repaired[0]?.number}000000 AND seq <= ${repaired.at(-1)?.number}999999`;
    for (const [table, what] of [
      ["fills", "*"],
      ["fills", "* REPLACE (seq + 500000 AS seq, timestamp - 60 AS timestamp)"],
      ["fills_by_token", "*"],
      ["fills_by_token", "* REPLACE (seq + 500000 AS seq)"],
      ["events", "* REPLACE (seq + 500000 AS seq)"],
      ["quarantine", "* REPLACE (seq + 500000 AS seq)"],
    ]) {
      await engine.command(
        `INSERT INTO ${table} SELECT ${what} FROM ${table} WHERE ${inside} LIMIT 2`,
      );
    }
    await orderRepair(engine, encode(repaired));
    await finish(engine);
    await assertTablesHold(await folder.reopen(), blocks);
  });

  test("rewinds clients of the stream that received later blocks, unless that was about a day ago", {
    skip: embeddedOnly,
  }, async (t) => {
    const folder = await StoreFolder.open(t);
    await fill(folder.store, wrongBlocks);
    const [first, last] = [repaired[0]?.number ?? 0, blocks.at(-1)?.number ?? 0];
    await folder.store.reorgs.reserve(last + 1);
    await orderRepair(folder.store.engine, encode(repaired));
    const { reorgs } = await folder.reopen();
    for (const block of [first, last, last + 1]) {
      assert.equal(reorgs.certainPosition(toFirstSeq(block)), toFirstSeq(first) - 1);
    }
    assert.equal(reorgs.certainPosition(toFirstSeq(first - 1)), toFirstSeq(first - 1));

    const far = first + storeLimits.repairReplayBlocksMax;
    await folder.store.reorgs.reserve(far);
    await orderRepair(folder.store.engine, encode(repaired));
    const next = await folder.reopen();
    assert.equal(next.reorgs.certainPosition(toFirstSeq(first - 1)), toFirstSeq(first - 1));
    assert.equal(next.reorgs.certainPosition(toFirstSeq(far)), toFirstSeq(last + 1) - 1);
  });

  test("of correct rows changes nothing", { skip: embeddedOnly }, async (t) => {
    const folder = await StoreFolder.open(t);
    await fill(folder.store, blocks);
    await orderRepair(folder.store.engine, encode(repaired));
    await assertTablesHold(await folder.reopen(), blocks);
  });

  test("that is killed before any of its writes is completed by the next start, or has changed nothing", async (t) => {
    const { store } = await StoreFolder.open(t);
    await fill(store, blocks);
    let [done, undone] = [0, 0];
    for (let writes = 0, isWhole = false; !isWhole; writes += stride) {
      await orderRepair(store.engine, encode(wrongBlocks.slice(from, to)));
      await finish(store.engine);
      isWhole = await repairDying(store.engine, writes);
      await finish(store.engine);
      const [row] = await store.engine.query("SELECT sum(fills) FROM commits");
      const isDone = row?.[0] === getFills(blocks).length;
      assert.ok(isDone || done === 0, "once it is ordered, it is done");
      await assertTablesHold(store, isDone ? blocks : wrongBlocks);
      if (isDone) done += 1;
      else undone += 1;
    }
    assert.ok(undone >= 5 / stride && done >= 10 / stride, `${undone} undone, ${done} done`);
  });
});
