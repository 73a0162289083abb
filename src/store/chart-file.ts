/**
 * Candles of the days that are over, by token and day: a copy of what follows from the minutes in the
 * engine, packed, of which a chart takes some rows in the time in which the engine plans a query. Days are
 * put there by `chart-thread.ts`, with the mark that vouches for them in one transaction. Losing the copy
 * loses time and nothing else.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { assert } from "../base/assert.ts";
import type { TokenId } from "../base/ids.ts";
import { resolutionSeconds } from "../market/candle.ts";
import { type ChartLevel, chartLevels, openChartDatabase } from "./chart-database.ts";
import { readSetting } from "./saved-columns.ts";
import { isSqliteFailure } from "./sqlite-code.ts";
import { withDisk } from "./sqlite-failure.ts";

const chartFileName = "charts.sqlite";
const daySeconds = resolutionSeconds["1d"];

/** Days of a token, from the one that holds `from` to the one before `to`. Unix seconds. */
export type ChartRange = {
  readonly tokenId: TokenId;
  readonly level: ChartLevel;
  readonly from: number;
  readonly to: number;
  readonly order: "asc" | "desc";
};

/** A row: the day, unix seconds, and its candles. */
type DayRow = readonly [day: number, candles: Uint8Array];

/** For each order a statement for the days with few minutes, and one for the others. */
type Reads = Readonly<Record<ChartRange["order"], readonly [StatementSync, StatementSync]>>;

export class ChartFile {
  readonly #dataDir: string;
  #sql: DatabaseSync;
  #reads: Reads;
  #before = 0;

  private constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#sql = openChartDatabase(this.path);
    this.#reads = prepareReads(this.#sql);
    this.refresh();
  }

  /**
   * Opens the copy in a data folder; one that is damaged, or tells of more days than the facts, begins
   * anew. `daysOver` is the day that the facts end in. Unix seconds.
   */
  static open(dataDir: string, daysOver: number): ChartFile {
    try {
      const file = withDisk(() => new ChartFile(dataDir));
      if (file.before <= daysOver) return file;
      file.close();
    } catch (thrown) {
      if (!isSqliteFailure(thrown)) throw thrown;
    }
    dropChartFile(dataDir);
    return withDisk(() => new ChartFile(dataDir));
  }

  get path(): string {
    return join(this.#dataDir, chartFileName);
  }

  /** All days before this one are there, and nothing above may be read. Unix seconds. */
  get before(): number {
    return this.#before;
  }

  /** Takes note of the days that were put there since. */
  refresh(): void {
    this.#before = readBefore(this.#sql);
  }

  /** Begins anew with a copy that turns out to be damaged. */
  reset(): void {
    this.#sql.close();
    dropChartFile(this.#dataDir);
    this.#sql = openChartDatabase(this.path);
    this.#reads = prepareReads(this.#sql);
    this.refresh();
  }

  /** The packed candles of the days that have some, in their order, read as they are asked for. */
  *read({ tokenId, level, from, to, order }: ChartRange): Generator<Uint8Array, void, undefined> {
    const token = Buffer.from(tokenId.slice(2), "hex");
    const within = [from - (from % daySeconds), Math.min(to, this.#before)] as const;
    const [readFew, readMany] = this.#reads[order];
    const few = new Rows(readFew.iterate(token, chartLevels.few, ...within));
    const many = new Rows(readMany.iterate(token, level, ...within));
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

  close(): void {
    this.#sql.close();
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

/** Throws the copy away; for when facts were changed, before they are. */
export function dropChartFile(dataDir: string): void {
  for (const ending of ["", "-wal", "-shm"]) {
    rmSync(join(dataDir, `${chartFileName}${ending}`), { force: true });
  }
}

function readBefore(sql: DatabaseSync): number {
  return Number(readSetting(sql, "before") ?? 0);
}
