import assert from "node:assert/strict";
import { inspect } from "node:util";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toTrades } from "../../src/market/fill.ts";
import { deriveMinuteCandles } from "../../src/market/minute-candle.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { fillOffsets } from "../../src/storage/codec/fill-layout.ts";
import { decodeBalances, decodeLedger } from "../../src/storage/codec/ledger-layout.ts";
import type { Row } from "../../src/storage/engine/engine.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { getFills } from "./store-chain.ts";

/** Asserts that the store contains exactly these blocks, in every table. */
export async function assertTablesHold(
  store: IndexedFacts,
  expected: readonly BlockFacts[],
): Promise<void> {
  const { number, hash, timestamp } = expected.at(-1) as BlockFacts;
  assert.deepEqual(store.coverage, {
    fromBlock: expected[0]?.number,
    last: { number, hash, timestamp },
  });
  const fills = await readFills(store, {
    filter: {},
    order: "asc",
    after: null,
    limit: 100_000,
    finalizedOnly: true,
  });
  assert.deepEqual(fills, getFills(expected));
  const counts = await Promise.all(
    ["events", "quarantine"].map((table) => store.engine.query(`SELECT count() FROM ${table}`)),
  );
  assert.deepEqual(
    counts.map((rows) => rows[0]?.[0]),
    [
      expected.reduce((sum, block) => sum + block.events.length, 0),
      expected.reduce((sum, block) => sum + block.quarantined.length, 0),
    ],
  );
  await assertLedgerHolds(store, expected);
  assert.deepEqual(await storedMinutes(store), getMinutes(expected));
  await assertHoursHold(store);
  await assertTokenRowsHold(store);
}

/** Asserts that `fills_by_token`, which serves pages of one token, has the same rows as `fills`, field by field. */
export async function assertTokenRowsHold({ engine }: IndexedFacts): Promise<void> {
  const fields = Object.keys(fillOffsets).join();
  const read = (table: string) =>
    engine.query(`SELECT ${fields} FROM (SELECT ${fields} FROM ${table}) ORDER BY seq`);
  assert.deepEqual(await read("fills_by_token"), await read("fills"));
}

/** Asserts that the tables of wallets have exactly the rows of these blocks. */
export async function assertLedgerHolds(
  { engine }: IndexedFacts,
  expected: readonly BlockFacts[],
): Promise<void> {
  const read = (table: string) => engine.queryBinary(`SELECT * FROM ${table}`, "RowBinary");
  const [ledger, balances] = [await read("ledger"), await read("balance_changes")];
  assertSameRows(
    decodeLedger(ledger),
    expected.flatMap((one) => one.ledger),
  );
  assertSameRows(
    decodeBalances(balances),
    expected.flatMap((one) => one.balances),
  );
}

/** Names only a few differences: the engine of `assert` would take gigabytes to compare long lists. */
function assertSameRows(stored: readonly object[], expected: readonly object[]): void {
  const toText = (row: object) => inspect(row, { sorted: true });
  const [own, right] = [stored.map(toText), expected.map(toText)];
  assert.equal(own.length, right.length);
  const [found, requested] = [new Set(own), new Set(right)];
  assert.deepEqual(own.filter((row) => !requested.has(row)).slice(0, 3), []);
  assert.deepEqual(right.filter((row) => !found.has(row)).slice(0, 3), []);
}

/** Asserts that the hour candles are the sums of their minutes. */
async function assertHoursHold({ engine }: IndexedFacts): Promise<void> {
  const read = (table: string) =>
    engine.query(
      `SELECT token_id, intDiv(minute, 3600) AS hour, min(minute), toString(min(open)), toString(max(close)),
         toString(max(high)), toString(min(low)), toString(sum(volume)), toString(sum(buy_volume_usd)),
         toString(sum(sell_volume_usd)), sum(trades)
       FROM ${table} GROUP BY token_id, hour ORDER BY token_id, hour`,
    );
  assert.deepEqual(await read("hour_candles"), await read("minute_candles"));
}

/** Every minute of every token, merged by the engine. */
function storedMinutes(store: IndexedFacts): Promise<readonly Row[]> {
  return store.engine.query(
    `SELECT lower(hex(token_id)), minute, toUInt64(bitShiftRight(max(close), 128)),
       toString(reinterpret(toInt128(max(close)), 'Decimal(38, 6)')),
       toString(sum(volume)), toString(sum(buy_volume_usd)), toString(sum(sell_volume_usd)),
       sum(trades)
     FROM minute_candles GROUP BY token_id, minute ORDER BY lower(hex(token_id)), minute`,
  );
}

function getMinutes(expected: readonly BlockFacts[]): unknown[] {
  return deriveMinuteCandles(toTrades(getFills(expected)))
    .map(({ tokenId, minute, candle }) => [
      tokenId.slice(2),
      minute,
      candle.close.seq,
      decimal(candle.close.price),
      decimal(candle.volume),
      decimal(candle.buyVolumeUsd),
      decimal(candle.sellVolumeUsd),
      candle.trades,
    ])
    .toSorted(([a, minuteA], [b, minuteB]) =>
      a === b ? Number(minuteA) - Number(minuteB) : String(a) < String(b) ? -1 : 1,
    );
}

/** A decimal of 6 digits as the engine prints it: without trailing zeros. */
function decimal(micros: bigint): string {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, "0");
  const text = `${micros < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
  return text.replace(/\.?0+$/, "");
}
