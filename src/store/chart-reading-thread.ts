/**
 * The far end of `chart-reader.ts`: reads charts one after the other, on its own, since whoever reads from
 * a disk may wait for it. Nothing of the engine may be loaded here: it would end with the thread.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { toError } from "../base/errors.ts";
import { storeLimits } from "../base/limits.ts";
import { chartLevelOf } from "./chart-database.ts";
import type { ChartAnswer, ChartOrder, ChartQuestion, ChartRange } from "./chart-reader.ts";
import { packCandles, unpackCandles } from "./pack-candles.ts";
import { sqliteCodeOf } from "./sqlite-code.ts";
import { sumUpCandles } from "./sum-up-candles.ts";

/** A row: the start of the first candle, unix seconds, how many they are, and all of them. */
type StretchRow = readonly [start: number, count: number, candles: Uint8Array];

/** A statement for each order. */
type Reads = Readonly<Record<ChartOrder, StatementSync>>;

const port = parentPort;
assert(port !== null, "this file is run as a thread");
const sql = new DatabaseSync(String(workerData), {
  readOnly: true,
  timeout: storeLimits.marketsLockedMs,
});
sql.exec("PRAGMA cache_size = -16384");
const reads = prepareReads(sql);

port.on("message", (question: ChartQuestion | null) => {
  if (question === null) {
    sql.close();
    port.close();
    return;
  }
  const answer = answerTo(question);
  port.postMessage(
    answer,
    answer.packed.map(({ buffer }) => buffer),
  );
});

function answerTo({ id, tokenIds, ...range }: ChartQuestion): ChartAnswer {
  try {
    const packed = tokenIds.map((tokenId) => {
      const token = Buffer.from(tokenId.slice(2), "hex");
      // In memory of its own, that can be handed over.
      return new Uint8Array(readBuckets(reads, token, range));
    });
    return { id, packed, failure: null };
  } catch (thrown) {
    // An error that is sent keeps no code.
    const { message } = toError(thrown);
    return { id, packed: [], failure: { message, sqliteCode: sqliteCodeOf(thrown) } };
  }
}

/** The stretches with the first buckets in the order asked for. */
function readBuckets(
  reads: Reads,
  token: Buffer,
  { bucketSeconds, from, to, order, limit }: Omit<ChartRange, "tokenIds">,
): Buffer {
  const level = chartLevelOf(bucketSeconds);
  const place = { token, level, to };
  const found: Uint8Array[] = [];
  let missing = limit;
  const rows = reads[order].iterate(order === "asc" ? { ...place, from } : place);
  for (const [start, count, packed] of rows as Iterable<StretchRow>) {
    // The first one may have candles that lie beyond the end asked for.
    if (found.length > 0 && level === bucketSeconds) {
      found.push(packed);
      missing -= count;
    } else {
      const buckets = sumUpCandles(unpackCandles(packed), bucketSeconds).filter(
        ({ bucket }) => bucket >= from && bucket < to,
      );
      found.push(packCandles(buckets));
      missing -= buckets.length;
    }
    if (missing <= 0 || (order === "desc" && start <= from)) break;
  }
  return Buffer.concat(order === "asc" ? found : found.toReversed());
}

function prepareReads(sql: DatabaseSync): Reads {
  const prepare = (condition: string, order: "ASC" | "DESC"): StatementSync => {
    const statement = sql.prepare(
      `SELECT start, count, candles FROM stretches
       WHERE token = :token AND level = :level AND start < :to ${condition} ORDER BY start ${order}`,
    );
    statement.setReturnArrays(true);
    return statement;
  };
  // The stretch with the first candle asked for may begin before it.
  const asc = `AND start >= coalesce((SELECT max(start) FROM stretches
    WHERE token = :token AND level = :level AND start <= :from), :from)`;
  return { asc: prepare(asc, "ASC"), desc: prepare("", "DESC") };
}
