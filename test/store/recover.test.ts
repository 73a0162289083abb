/** What is there after a crash at any point of an append. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { firstSeqOf } from "../../src/base/ids.ts";
import { appendPart, tables } from "../support/append-part.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { encode, factsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

/** Blocks close in time, so that batches share minutes. */
const plans = fc
  .sample(anyBlockPlan(), { seed: testSeed, numRuns: 40 })
  .map((plan) => ({ ...plan, secondsLater: plan.secondsLater % 20 }));
const blocks = factsOf(buildChain(plans));

describe("after a crash", () => {
  for (let done = 0; done <= tables.length; done += 1) {
    const what = done === tables.length ? "every insert" : `${done} of the inserts`;
    test(`behind ${what} of an append, acknowledged blocks are left and nothing else`, async (t) => {
      const folder = await StoreFolder.open(t);
      const [kept, lost] = [blocks.slice(0, 20), blocks.slice(20)];
      await folder.store.append(encode(kept));
      await appendPart(folder.store, encode(lost), done);
      const store = await folder.reopen();
      if (done < tables.length) {
        await assertTablesHold(store, kept);
        await store.append(encode(lost));
      }
      await assertTablesHold(store, blocks);
    });
  }

  test("in the middle of the recovery from a crash, the next recovery ends it", async (t) => {
    const folder = await StoreFolder.open(t);
    const [kept, lost] = [blocks.slice(0, 20), blocks.slice(20)];
    await folder.store.append(encode(kept));
    for (const damage of [
      // The minutes are dropped but not made again.
      "DELETE FROM oddwire.minute_candles WHERE 1",
      // The minutes are made again, events and quarantine are gone, but not the fills.
      `DELETE FROM oddwire.events WHERE seq >= ${firstSeqOf(lost[0]?.number ?? 0)}`,
    ]) {
      await appendPart(folder.store, encode(lost), 4);
      const minute = Math.floor((lost[0]?.timestamp ?? 0) / 60) * 60;
      await folder.store.engine.command(damage.replace("WHERE 1", `WHERE minute >= ${minute}`));
      await assertTablesHold(await folder.reopen(), kept);
    }
    await folder.store.append(encode(lost));
    await assertTablesHold(folder.store, blocks);
  });

  test("of a store that never acknowledged anything, it is empty", async (t) => {
    const folder = await StoreFolder.open(t);
    await appendPart(folder.store, encode(blocks), 4);
    const store = await folder.reopen();
    assert.equal(store.coverage, null);
    for (const table of tables) {
      assert.deepEqual(await store.engine.query(`SELECT count() FROM oddwire.${table}`), [[0]]);
    }
  });
});
