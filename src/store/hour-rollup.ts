/**
 * Candles of whole hours, made of their minutes once the day (UTC) is over: charts of months of tokens
 * that are traded all the time would have to add up tens of thousands of minutes. Nothing is added to
 * the minutes of a day that is over, so its hours are written once and no append has to know of them.
 *
 * What is made of a stretch is vouched for by a row of `hour_marks`, written behind it. Above the
 * newest of these nothing is read, and a crash can leave some of it; it is deleted before that
 * stretch is made again. So a folder without hours gets them in the same way, while it is used.
 */
import { assert } from "../base/assert.ts";
import { systemClock } from "../base/clock.ts";
import { storeLimits } from "../base/limits.ts";
import { resolutionSeconds } from "../market/candle.ts";
import { deleteRows } from "./delete-rows.ts";
import type { Engine } from "./engine.ts";
import { RowWriter } from "./row-writer.ts";
import { integerLiteral, listLiteral } from "./sql-literal.ts";
import { untilAdmitted } from "./until-admitted.ts";

const { "1h": hourSeconds, "1d": daySeconds } = resolutionSeconds;

/** Times: `from` inclusive, `to` exclusive. Unix seconds, whole days. */
type Days = { readonly from: number; readonly to: number };

/** Makes hours as days end; one of a kind for a store. */
export class HourRollup {
  readonly #engine: Engine;
  #before: number;
  #daysOver = 0;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #making: Promise<void> | null = null;
  #failure: { readonly cause: unknown } | null = null;
  #isClosing = false;

  private constructor(engine: Engine, before: number) {
    this.#engine = engine;
    this.#before = before;
  }

  static async open(engine: Engine): Promise<HourRollup> {
    return new HourRollup(engine, await readHoursBefore(engine));
  }

  /** The table has all hours that are before this day, and nothing above it may be read. Unix seconds. */
  get before(): number {
    return this.#before;
  }

  /**
   * Tells that all minutes before that of a time are complete and durable: hours are made of the days
   * that are over, in the background and not all of the time.
   */
  advance(timestamp: number): void {
    this.#daysOver = timestamp - (timestamp % daySeconds);
    if (this.#isDue() && systemClock.monotonicMs() >= this.#nextAtMs) void this.#make();
  }

  /** Makes hours of all days that are over, without pauses. */
  async finish(): Promise<void> {
    while (this.#making !== null || this.#isDue()) await (this.#making ?? this.#make());
    this.check();
  }

  /** Throws what making hours has failed of: the disk is full, or the store is damaged. */
  check(): void {
    if (this.#failure !== null) throw this.#failure.cause;
  }

  /** Resolves when nothing is being made, nor will be. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#making;
  }

  #isDue(): boolean {
    const isStopped = this.#isClosing || this.#failure !== null;
    return !isStopped && this.#making === null && this.#before < this.#daysOver;
  }

  /** One step; what it fails of is told to those who append. */
  async #make(): Promise<void> {
    const startedAtMs = systemClock.monotonicMs();
    this.#making = untilAdmitted(() => this.#step()).catch((cause: unknown) => {
      this.#failure = { cause };
    });
    await this.#making;
    this.#making = null;
    const endedAtMs = systemClock.monotonicMs();
    this.#nextAtMs = endedAtMs + (endedAtMs - startedAtMs) / storeLimits.hoursShare;
  }

  async #step(): Promise<void> {
    const to = this.#daysOver;
    const from = this.#before === 0 ? await readFirstDay(this.#engine, to) : this.#before;
    const days = { from, to: Math.min(to, from + storeLimits.hoursStepSeconds) };
    await makeHours(this.#engine, days);
    this.#before = days.to;
  }
}

/** The end of what the newest mark vouches for; 0 without one. Unix seconds. */
async function readHoursBefore(engine: Engine): Promise<number> {
  const [row] = await engine.query("SELECT max(before) FROM oddwire.hour_marks");
  return Number(row?.[0]);
}

/** The day of the first minute before a time; that time if there is none. */
async function readFirstDay(engine: Engine, to: number): Promise<number> {
  const [row] = await engine.query(
    `SELECT count(), min(minute) FROM oddwire.minute_candles WHERE minute < ${integerLiteral(to)}`,
  );
  const [minutes, first] = [Number(row?.[0]), Number(row?.[1])];
  return minutes === 0 ? to : first - (first % daySeconds);
}

/** Can be begun again. */
async function makeHours(engine: Engine, { from, to }: Days): Promise<void> {
  assert(from % daySeconds === 0 && to % daySeconds === 0, "hours are made of whole days");
  const start = integerLiteral(from);
  await deleteRows(engine, "oddwire.hour_candles", `hour >= ${start}`);
  await insertHours(engine, `minute >= ${start} AND minute < ${integerLiteral(to)}`);
  await engine.insert("oddwire.hour_marks", new RowWriter().uint32(to).finish());
}

/**
 * Makes the hours anew that these minutes are in, as far as they are vouched for. Can be begun again;
 * only while nobody reads, and no hours are made.
 */
export async function remakeHours(engine: Engine, minutes: readonly number[]): Promise<void> {
  const before = await readHoursBefore(engine);
  const hours = [...new Set(minutes.map((minute) => minute - (minute % hourSeconds)))].filter(
    (hour) => hour < before,
  );
  if (hours.length === 0) return;
  const wanted = listLiteral(hours.map(integerLiteral));
  await deleteRows(engine, "oddwire.hour_candles", `hour IN ${wanted}`);
  await insertHours(engine, `${hourOf("minute")} IN ${wanted}`);
}

function hourOf(time: string): string {
  return `toUInt32(intDiv(${time}, ${hourSeconds}) * ${hourSeconds})`;
}

/** Adds minutes up in the order they are stored in, some at a time: 2 million at once took a gigabyte. */
async function insertHours(engine: Engine, minutes: string): Promise<void> {
  await engine.command(
    `INSERT INTO oddwire.hour_candles
     SELECT token_id, ${hourOf("minute")} AS hour,
       (min(open.1), argMin(open.2, open.1)), (max(close.1), argMax(close.2, close.1)), max(high), min(low),
       sum(volume), sum(buy_volume_usd), sum(sell_volume_usd), sum(trades)
     FROM oddwire.minute_candles WHERE ${minutes} AND trades > 0
     GROUP BY token_id, hour
     SETTINGS optimize_aggregation_in_order = 1, aggregation_in_order_max_block_bytes = 4000000,
       max_threads = 1, max_insert_threads = 1, max_block_size = 8192,
       min_insert_block_size_rows = ${storeLimits.hoursWrittenAtOnce}, min_insert_block_size_bytes = 0`,
  );
}
