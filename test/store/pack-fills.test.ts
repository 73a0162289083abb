/** Folders in which every field of a fill has a column of its own are brought to the layout of today. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Engine } from "../../src/store/engine.ts";
import { type FillColumn, fillSql, type RestField } from "../../src/store/fill-layout.ts";
import { recover } from "../../src/store/recover.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { MortalEngine } from "../support/mortal-engine.ts";
import { testSeed } from "../support/property-settings.ts";
import { factsOf, fillStore } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const blocks = factsOf(buildChain(fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 40 })));

/** The columns of such a table, in their order. */
const unpackedFields = [
  "seq timestamp block_hash tx_hash exchange_address exchange exchange_version role order_hash",
  "maker taker maker_side maker_token_id maker_amount taker_amount fee fee_refund builder metadata",
  "token_id side size value match_type taker_order_hash match_seq legs",
].flatMap((line) => line.split(" ") as (FillColumn | RestField)[]);

/** How the engine reads a field of a row, as the type that its column has. */
function columnSql(field: FillColumn | RestField): string {
  const sql = fillSql(field);
  // A piece of a longer value is a text, of whatever length.
  const [, bytes] = /^substring\(rest, [0-9]+, ([0-9]+)\)$/.exec(sql) ?? [];
  return bytes === undefined ? sql : `toFixedString(${sql}, ${bytes})`;
}

async function unpack(engine: Engine): Promise<void> {
  const columns = unpackedFields.map((field) => `${columnSql(field)} AS ${field}`);
  await engine.command(
    `CREATE TABLE oddwire.unpacked ENGINE = MergeTree ORDER BY seq
     AS SELECT ${columns.join(", ")} FROM oddwire.fills`,
  );
  await engine.command("EXCHANGE TABLES oddwire.fills AND oddwire.unpacked");
  // Not at once: connections that read its projection hold it until they are used again.
  await engine.command("DROP TABLE oddwire.unpacked");
}

test("fills of separate columns are packed by a start, whenever the one before it was killed", async (t) => {
  const folder = await StoreFolder.open(t);
  const { store } = folder;
  await fillStore(store, { final: blocks, held: [], sizes: [10] });
  await store.chartRollup.finish();
  let writes = 0;
  for (let isWhole = false; !isWhole; writes += 1) {
    await unpack(store.engine);
    isWhole = await packDying(store.engine, writes);
    await recover(store.engine, () => {});
    await assertTablesHold(store, blocks);
  }
  assert.ok(writes > 5, `it was killed before each of five writes: ${writes}`);
  await assertTablesHold(await folder.reopen(), blocks);
});

async function packDying(engine: Engine, writes: number): Promise<boolean> {
  try {
    await recover(new MortalEngine(engine, writes), () => {});
    return true;
  } catch (thrown) {
    assert.equal((thrown as Error).message, "killed");
    return false;
  }
}
