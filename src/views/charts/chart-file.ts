/**
 * Candles of the days that are over, by token and day: a copy of what follows from the minutes in the
 * engine, packed, of which a chart takes some rows in the time in which the engine plans a query. Days are
 * put there by `chart-writing-thread.ts`, with the mark that commits them in one transaction. Losing
 * the copy loses time and nothing else.
 */
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { TokenId } from "../../base/ids.ts";
import { isSqliteFailure } from "../../storage/sqlite/sqlite-code.ts";
import { withDisk } from "../../storage/sqlite/sqlite-failure.ts";
import { readSetting } from "../disk/saved-columns.ts";
import type { BucketCandle } from "../recent/recent-candles.ts";
import { openChartDatabase, removeChartDatabase } from "./chart-database.ts";
import { type ChartRange, type ChartReader, chartFileName } from "./chart-reader.ts";
import { unpackCandles } from "./pack-candles.ts";

const nothing = new Uint8Array(0);

export class ChartFile {
  readonly #dataDir: string;
  #sql: DatabaseSync;
  readonly #reader: ChartReader;
  #before = 0;

  private constructor(dataDir: string, reader: ChartReader) {
    this.#dataDir = dataDir;
    this.#reader = reader;
    this.#sql = openChartDatabase(this.path);
    this.refresh();
  }

  /**
   * Opens the copy in a data folder; one that is damaged, or describes more days than the facts, begins
   * again. `daysOver` is the day that the facts end in. Unix seconds.
   */
  static open(dataDir: string, daysOver: number, reader: ChartReader): ChartFile {
    try {
      const file = withDisk(() => new ChartFile(dataDir, reader));
      if (file.before <= daysOver) return file;
      file.#sql.close();
    } catch (thrown) {
      if (!isSqliteFailure(thrown)) throw thrown;
    }
    dropChartFile(dataDir);
    return withDisk(() => new ChartFile(dataDir, reader));
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

  /** Starts again with a copy that turns out to be damaged; what is being read of it still is. */
  reset(): void {
    this.#reader.forgetFile();
    this.#sql.close();
    dropChartFile(this.#dataDir);
    this.#sql = openChartDatabase(this.path);
    this.refresh();
  }

  /**
   * Of each token the first `limit` buckets in the order asked for, of the days that are there now; `null` when the
   * engine should be asked. Throws `SERVICE_UNAVAILABLE` when too many wait, and `ChartsDamagedError`.
   */
  async read(range: ChartRange): Promise<ReadonlyMap<TokenId, readonly BucketCandle[]> | null> {
    const { from, tokenIds } = range;
    const to = Math.min(range.to, this.#before);
    if (from >= to || tokenIds.length === 0) return new Map();
    const packed = await this.#reader.read({ ...range, to });
    if (packed === null) return null;
    return new Map(
      tokenIds.map((tokenId, index) => {
        const rising = [...unpackCandles(packed[index] ?? nothing)].filter(
          ({ bucket }) => bucket >= from && bucket < to,
        );
        const buckets = range.order === "asc" ? rising : rising.toReversed();
        return [tokenId, buckets.slice(0, range.limit)];
      }),
    );
  }

  close(): void {
    this.#sql.close();
  }
}

/** Throws the copy away; for when facts were changed, before they are. */
export function dropChartFile(dataDir: string): void {
  removeChartDatabase(join(dataDir, chartFileName));
}

function readBefore(sql: DatabaseSync): number {
  return Number(readSetting(sql, "before") ?? 0);
}
