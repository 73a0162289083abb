import { type EncodedBatch, encodeCommit } from "../../src/storage/codec/encode-facts.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";

/** In the order in which an append fills them. */
export const tables = [
  "fills",
  "fills_by_token",
  "minute_candles",
  "hour_candles",
  "events",
  "quarantine",
  "commits",
] as const;

/** Does the first `count` inserts of an append, as a crash would leave them. */
export async function appendPart(
  store: IndexedFacts,
  batch: EncodedBatch,
  count: number,
): Promise<void> {
  const { fills, minuteCandles, events, quarantine } = batch;
  const [from, to] = [batch.fromBlock, batch.last.number];
  const rows = [
    fills,
    fills,
    minuteCandles,
    minuteCandles,
    events,
    quarantine,
    encodeCommit([batch]),
  ];
  for (const [index, table] of tables.slice(0, count).entries()) {
    const token = table === "commits" ? `commits:${from}` : `${table}:${from}-${to}`;
    await store.engine.insert(table, rows[index] ?? Buffer.of(), token);
  }
}
