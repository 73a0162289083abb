/**
 * The copy of what charts are made of (`chart-file.ts`), made of the minutes in the engine once their
 * day (UTC) is over: from then on nothing is added to them, so no append has to know of it. The minutes
 * are written to a file by the engine and taken into the copy by a thread, days and mark immediately, so a
 * crash leaves nothing of what was not done. A folder without the copy gets it in the same way, while it
 * is used.
 */

import { Worker } from "node:worker_threads";
import { storeLimits } from "../../base/config/limits.ts";
import { toError } from "../../base/errors.ts";
import type { Range } from "../../base/range.ts";
import { systemClock } from "../../base/time/clock.ts";
import { resolutionSeconds } from "../../market/candle.ts";
import type { Delta } from "../../market/delta.ts";
import { DataFolderUnwritableError } from "../../storage/embedded/data-folder-errors.ts";
import type { Engine } from "../../storage/engine.ts";
import type { Coverage } from "../../storage/recover.ts";
import { integerLiteral } from "../../storage/sql-literal.ts";
import { isSqliteDamage, isSqliteFailure } from "../../storage/sqlite/sqlite-code.ts";
import { untilAdmitted } from "../../storage/until-admitted.ts";
import { PendingDeltas } from "../pending-deltas.ts";
import type { FactReader, View } from "../view.ts";
import type { ChartFile } from "./chart-file.ts";

const daySeconds = resolutionSeconds["1d"];

/** What the thread is sent: where the minutes are, where the copy is, and the day before which it is whole then. */
export type ChartStep = {
  readonly rowsPath: string;
  readonly chartPath: string;
  readonly to: number;
};

/** Takes in days as they end; one of a kind for a store. */
export class ChartRollup implements View {
  readonly #pending = new PendingDeltas();
  readonly #engine: Engine;
  readonly #file: ChartFile;
  #daysOver = 0;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #making: Promise<void> | null = null;
  #failure: { readonly cause: unknown } | null = null;
  #isClosing = false;

  constructor(engine: Engine, file: ChartFile) {
    this.#engine = engine;
    this.#file = file;
  }

  apply(delta: Delta): void {
    if (delta.isFinal) this.advance(delta.last.timestamp);
    else this.#pending.add(delta);
  }

  revert(toBlock: number): void {
    this.#pending.revert(toBlock);
  }

  finalize(toBlock: number): void {
    const last = this.#pending.take(toBlock).at(-1)?.last;
    if (last !== undefined) this.advance(last.timestamp);
  }

  /** The copy is on disk, and goes on from the day that it ends with. */
  async load(_facts: FactReader, { last }: Coverage): Promise<void> {
    this.#daysOver = last.timestamp - (last.timestamp % daySeconds);
  }

  /**
   * Reports that all minutes before that of a time are complete and durable: the days that are over are
   * taken in, in the background and not all of the time.
   */
  advance(timestamp: number): void {
    this.#daysOver = timestamp - (timestamp % daySeconds);
    if (this.#isDue() && systemClock.monotonicMs() >= this.#nextAtMs) void this.#make();
  }

  /** Takes in all days that are over, without pauses. */
  async finish(): Promise<void> {
    while (this.#making !== null || this.#isDue()) await (this.#making ?? this.#make());
    this.check();
  }

  /** Throws what taking in days has failed of: the disk is full, or the store is damaged. */
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
    return !isStopped && this.#making === null && this.#file.before < this.#daysOver;
  }

  /** One step; what it fails of is informed to those who append. */
  async #make(): Promise<void> {
    const startedAtMs = systemClock.monotonicMs();
    this.#making = untilAdmitted(() => this.#step()).catch((cause: unknown) => {
      this.#failure = { cause };
    });
    await this.#making;
    this.#making = null;
    const endedAtMs = systemClock.monotonicMs();
    this.#nextAtMs = endedAtMs + (endedAtMs - startedAtMs) / storeLimits.chartsShare;
  }

  async #step(): Promise<void> {
    const { before } = this.#file;
    const from = before === 0 ? await readFirstDay(this.#engine, this.#daysOver) : before;
    const to = Math.min(this.#daysOver, from + storeLimits.chartsStepSeconds);
    const rows = await this.#engine.openRows();
    try {
      await writeMinutes(this.#engine, rows.path, { from, to });
      await takeInOnThread({ rowsPath: rows.path, chartPath: this.#file.path, to });
    } catch (thrown) {
      if (!isSqliteDamage(thrown)) throw orUnwritable(thrown);
      this.#file.reset();
    } finally {
      await rows.close();
    }
    this.#file.refresh();
  }
}

/** The day of the first minute before a time; that time if there is none. */
async function readFirstDay(engine: Engine, to: number): Promise<number> {
  const [row] = await engine.query(
    `SELECT count(), min(minute) FROM oddwire.minute_candles WHERE minute < ${integerLiteral(to)}`,
  );
  const [minutes, first] = [Number(row?.[0]), Number(row?.[1])];
  return minutes === 0 ? to : first - (first % daySeconds);
}

/** In the order they are stored in, so that few are in memory at the same time: a small block of each of the parts. */
async function writeMinutes(
  engine: Engine,
  path: string,
  { from, to }: Range<number>,
): Promise<void> {
  await engine.command(
    `INSERT INTO FUNCTION file('${path}', 'RowBinary')
     SELECT token_id, minute, open.1, open.2, close.1, close.2, high, low,
       volume, buy_volume_usd, sell_volume_usd, trades
     FROM oddwire.minute_candles
     WHERE minute >= ${integerLiteral(from)} AND minute < ${integerLiteral(to)} AND trades > 0
     ORDER BY token_id, minute
     SETTINGS max_threads = 1, max_insert_threads = 1, max_block_size = 1024,
       optimize_read_in_order = 1, engine_file_truncate_on_insert = 1`,
  );
}

/** Resolves when the days are there; rejects with what SQLite says when they are not. */
async function takeInOnThread(step: ChartStep): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const worker = new Worker(new URL("./chart-writing-thread.ts", import.meta.url), {
    workerData: step,
    resourceLimits: { maxYoungGenerationSizeMb: storeLimits.chartsYoungMegabytes },
  });
  worker.on("error", reject);
  worker.on("exit", () => resolve());
  return promise;
}

function orUnwritable(thrown: unknown): unknown {
  if (!isSqliteFailure(thrown)) return thrown;
  const { message } = toError(thrown);
  return new DataFolderUnwritableError(`the data folder cannot be written: ${message}`, {
    cause: thrown,
  });
}
