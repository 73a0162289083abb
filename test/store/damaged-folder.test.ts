/** A start refuses folders that no crash leaves behind, and reports what is wrong. */

import assert from "node:assert/strict";
import { readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { storeLimits } from "../../src/base/config/limits.ts";
import { toFirstSeq } from "../../src/base/ids.ts";
import { openFolder } from "../../src/storage/embedded/open-folder.ts";
import { deleteRows } from "../../src/storage/engine/delete-rows.ts";
import { StoreDamagedError } from "../../src/storage/engine/store-errors.ts";
import {
  readCoverage,
  verifyAllCommits,
  verifyCandles,
} from "../../src/storage/recovery/recover.ts";
import { finishRepair, orderRepair } from "../../src/storage/recovery/repair.ts";
import { candleTables, getFactTables } from "../../src/storage/schema/fact-tables.ts";
import { appendFacts } from "../support/append-facts.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { embeddedOnly } from "../support/open-facts.ts";
import { testSeed } from "../support/property-settings.ts";
import { encode, getFacts, withLedger } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 40 });
const blocks = getFacts(buildChain(plans));

describe("a damaged folder is refused", () => {
  const range = `seq >= ${toFirstSeq(blocks[5]?.number ?? 0)}`;
  const damages: readonly (readonly [string, string, RegExp])[] = [
    [
      "a fill is missing",
      "DELETE FROM fills WHERE seq IN (SELECT max(seq) FROM fills)",
      /table fills holds/,
    ],
    [
      "a fill is missing by token",
      "DELETE FROM fills_by_token WHERE seq IN (SELECT max(seq) FROM fills)",
      /table fills_by_token holds/,
    ],
    ["events are missing", `DELETE FROM events WHERE ${range}`, /table events holds/],
    ["a log is missing", "DELETE FROM quarantine WHERE 1", /table quarantine holds/],
    ["a row is there twice", "INSERT INTO fills SELECT * FROM fills LIMIT 1", /table fills holds/],
    [
      "a commit record is missing",
      `DELETE FROM commits WHERE from_block = ${blocks[10]?.number}`,
      /do not cover/,
    ],
    [
      "a commit record is there twice",
      "INSERT INTO commits SELECT * FROM commits LIMIT 1",
      /do not cover/,
    ],
  ];
  for (const [what, damage, message] of damages) {
    test(what, async (t) => {
      const folder = await StoreFolder.open(t);
      for (const from of [0, 10, 20, 30]) {
        await appendFacts(folder.store, encode(blocks.slice(from, from + 10)));
      }
      await folder.store.engine.command(damage);
      // Refused again at the second start.
      for (const _ of [1, 2]) {
        await assert.rejects(folder.reopen(), (error: unknown) => {
          assert(error instanceof StoreDamagedError);
          assert.match(error.message, message);
          return true;
        });
      }
    });
  }
});

test("an old row that is gone is refused, whatever its table", {
  skip: embeddedOnly,
}, async (t) => {
  const folder = await StoreFolder.open(t);
  const many = withLedger(
    getFacts(buildChain(fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 140 }))),
  );
  // A start counts the rows of the newest commits one by one; the old rows are below them.
  const { commitsVerifiedMax } = storeLimits;
  await appendFacts(folder.store, encode(many.slice(0, -commitsVerifiedMax)));
  for (const block of many.slice(-commitsVerifiedMax)) {
    await appendFacts(folder.store, encode([block]));
  }
  await folder.close();
  let engine = await openFolder(folder.path);
  const coverage = await readCoverage(engine);
  // The first table with missing rows is named.
  for (const table of getFactTables(engine).toReversed()) {
    await deleteRows(engine, table, `seq = (SELECT min(seq) FROM ${table})`);
    const words = new RegExp(`table ${table} holds .* were written`);
    await assert.rejects(verifyAllCommits(engine, coverage), words);
  }
  await engine.close();
  await assert.rejects(folder.reopen(), /table fills holds .* were written/);
  // A repair restores them, and the newest rows too.
  engine = await openFolder(folder.path);
  for (const table of getFactTables(engine)) {
    await deleteRows(engine, table, `seq = (SELECT max(seq) FROM ${table})`);
  }
  await orderRepair(engine, encode(many));
  await finishRepair(engine, () => {});
  await engine.close();
  await assertTablesHold(await folder.reopen(), many);
});

test("candles that are gone are found by a check", { skip: embeddedOnly }, async (t) => {
  const folder = await StoreFolder.open(t);
  await appendFacts(folder.store, encode(blocks));
  const { engine, coverage } = folder.store;
  assert(coverage !== null);
  await verifyCandles(engine, coverage.last);
  for (const table of candleTables.toReversed()) {
    await deleteRows(engine, table, `minute = (SELECT min(minute) FROM ${table})`);
    const words = new RegExp(`table ${table} does not count the trades .*; restore a backup`);
    await assert.rejects(verifyCandles(engine, coverage.last), words);
  }
});

describe("a part of the engine that cannot be read", { skip: embeddedOnly }, () => {
  const table = "fills_by_token";
  const ofTable = `database = currentDatabase() AND table = '${table}'`;

  /** Empties the files of the newest part of a table, as a merge on a full disk leaves them. */
  async function breakNewestPart(folder: StoreFolder): Promise<void> {
    const newest = `SELECT path FROM system.parts WHERE ${ofTable} AND active ORDER BY max_block_number DESC`;
    const path = String((await folder.store.engine.query(newest))[0]?.[0]);
    await folder.close();
    for (const file of readdirSync(path)) truncateSync(join(path, file), 0);
  }

  test("is deleted if the parts that were merged into it are there", async (t) => {
    const folder = await StoreFolder.open(t);
    for (const from of [0, 10, 20, 30]) {
      await appendFacts(folder.store, encode(blocks.slice(from, from + 10)));
    }
    const rows = `SELECT count(), max(seq) FROM ${table}`;
    const before = await folder.store.engine.query(rows);
    await folder.store.engine.command(`OPTIMIZE TABLE ${table} FINAL`);
    await breakNewestPart(folder);
    // The second start finds no broken part.
    for (const _ of [1, 2]) {
      const { engine } = await folder.reopen();
      assert.deepEqual(await engine.query(rows), before);
      assert.deepEqual(
        await engine.query(`SELECT name FROM system.detached_parts WHERE ${ofTable}`),
        [],
      );
    }
  });

  test("is damage at every start if it was inserted", async (t) => {
    const folder = await StoreFolder.open(t);
    for (const from of [0, 10])
      await appendFacts(folder.store, encode(blocks.slice(from, from + 10)));
    await breakNewestPart(folder);
    for (const _ of [1, 2])
      await assert.rejects(folder.reopen(), /part .* of table fills_by_token is broken/);
  });
});
