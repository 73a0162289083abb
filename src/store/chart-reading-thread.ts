/**
 * The far end of `chart-reader.ts`: reads charts one after the other, on its own, since whoever reads from
 * a disk may wait for it. Nothing of the engine may be loaded here: it would end with the thread.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { toError } from "../base/errors.ts";
import { storeLimits } from "../base/limits.ts";
import { resolutionSeconds } from "../market/candle.ts";
import { type ChartLevel, chartLevelOf, chartLevels } from "./chart-database.ts";
import type { ChartAnswer, ChartOrder, ChartQuestion } from "./chart-reader.ts";
import type { BucketCandle } from "./newest-candles.ts";
import { packCandles, unpackCandles } from "./pack-candles.ts";
import { sqliteCodeOf } from "./sqlite-code.ts";
import { sumUpCandles } from "./sum-up-candles.ts";

const daySeconds = resolutionSeconds["1d"];

/** A row: the day, unix seconds, and its candles. */
type DayRow = readonly [day: number, candles: Uint8Array];

/** For each order a statement for the days with few minutes, and one for the others. */
type Reads = Readonly<Record<ChartOrder, readonly [StatementSync, StatementSync]>>;

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
      return new Uint8Array(packCandles(readBuckets(token, range)));
    });
    return { id, packed, failure: null };
  } catch (thrown) {
    // An error that is sent keeps no code.
    const { message } = toError(thrown);
    return { id, packed: [], failure: { message, sqliteCode: sqliteCodeOf(thrown) } };
  }
}

/** The first buckets in the order asked for. */
function readBuckets(
  token: Buffer,
  { bucketSeconds, from, to, order, limit }: Omit<ChartQuestion, "id" | "tokenIds">,
): readonly BucketCandle[] {
  const buckets: BucketCandle[] = [];
  const days = [from - (from % daySeconds), to] as const;
  for (const packed of readDays(token, chartLevelOf(bucketSeconds), { days, order })) {
    const ofDay = sumUpCandles(unpackCandles(packed), bucketSeconds).filter(
      ({ bucket }) => bucket >= from && bucket < to,
    );
    buckets.push(...(order === "asc" ? ofDay : ofDay.toReversed()));
    if (buckets.length >= limit) break;
  }
  return buckets.slice(0, limit);
}

/** The packed candles of the days that have some, in their order, read as they are asked for. */
function* readDays(
  token: Buffer,
  level: ChartLevel,
  { days, order }: { readonly days: readonly [number, number]; readonly order: ChartOrder },
): Generator<Uint8Array, void, undefined> {
  const [readFew, readMany] = reads[order];
  const few = new Rows(readFew.iterate(token, chartLevels.few, ...days));
  const many = new Rows(readMany.iterate(token, level, ...days));
  try {
    for (;;) {
      const [a, b] = [few.next, many.next];
      if (a === null && b === null) return;
      // A day is in one of them.
      const isFew = b === null || (a !== null && a[0] < b[0] === (order === "asc"));
      yield (isFew ? few : many).take();
    }
  } finally {
    few.close();
    many.close();
  }
}

/** Rows as a statement comes to them, the next one known. */
class Rows {
  readonly #rows: Iterator<unknown>;
  #next: DayRow | null = null;

  constructor(rows: Iterator<unknown>) {
    this.#rows = rows;
    this.#step();
  }

  get next(): DayRow | null {
    return this.#next;
  }

  take(): Uint8Array {
    const [, candles] = this.#next ?? [];
    assert(candles !== undefined, "there is a row to take");
    this.#step();
    return candles;
  }

  /** Lets go of what the statement holds on to. */
  close(): void {
    this.#rows.return?.();
  }

  #step(): void {
    const { done, value } = this.#rows.next();
    this.#next = done === true ? null : (value as DayRow);
  }
}

function prepareReads(sql: DatabaseSync): Reads {
  const prepare = (order: "ASC" | "DESC"): StatementSync => {
    const statement = sql.prepare(
      `SELECT day, candles FROM days WHERE token = ? AND level = ? AND day >= ? AND day < ?
       ORDER BY day ${order}`,
    );
    statement.setReturnArrays(true);
    return statement;
  };
  return {
    asc: [prepare("ASC"), prepare("ASC")],
    desc: [prepare("DESC"), prepare("DESC")],
  };
}
