import { type EncodedBatch, encodeCommit } from "../../src/storage/codec/encode-facts.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";

/** The tables in the order in which an append writes them. */
export const tables = [
  "fills",
  "fills_by_token",
  "minute_candles",
  "hour_candles",
  "events",
  "quarantine",
  "ledger",
  "balance_changes",
  "commits",
] as const;

/** Makes only these inserts of an append, in this order, as after a crash. */
export async function appendPart(
  store: IndexedFacts,
  batch: EncodedBatch,
  names: readonly (typeof tables)[number][],
): Promise<void> {
  const { fills, minuteCandles, events, quarantine, ledger, balances } = batch.rows;
  const [from, to] = [batch.fromBlock, batch.last.number];
  const rows = {
    fills,
    fills_by_token: fills,
    minute_candles: minuteCandles,
    hour_candles: minuteCandles,
    events,
    quarantine,
    ledger,
    balance_changes: balances,
    commits: encodeCommit([batch]),
  };
  for (const table of names) {
    const token = table === "commits" ? `commits:${from}` : `${table}:${from}-${to}`;
    await store.engine.insert(table, rows[table], token);
  }
}
