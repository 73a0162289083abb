import { storeLimits } from "../../base/config/limits.ts";
import { toError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Engine } from "./engine.ts";

type TableSize = {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  readonly parts: number;
};

/** The size of the store. */
export type StoreSize = {
  readonly tables: readonly TableSize[];
  /** How many blocks between the first and the last committed block have no commit record. */
  readonly missingBlocks: number;
};

/** Reads the size of the store, at most once every `sizeKeptMs`; after a failure, once every `sizeRetryMs`. */
export class StoreSizeReader {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #log: Log;
  #latest: Promise<StoreSize | null> = Promise.resolve(null);
  /** Monotonic time of the next read; infinity while one is under way. */
  #dueMs = 0;
  /** Whether the last read failed. Only the first of several failures is logged as a warning. */
  #hasFailed = false;

  constructor(options: { engine: Engine; clock: Clock; log: Log }) {
    this.#engine = options.engine;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /**
   * Returns the size; `null` when the engine fails or does not answer within `sizeWaitMs`, since operators then still
   * need the other metrics.
   */
  async read(): Promise<StoreSize | null> {
    if (this.#clock.monotonicMs() >= this.#dueMs) this.#latest = this.#readNow();
    const waiting = new AbortController();
    const tooLate = this.#clock.sleep(storeLimits.sizeWaitMs, waiting.signal).then(
      () => null,
      () => null,
    );
    try {
      return await Promise.race([this.#latest, tooLate]);
    } finally {
      waiting.abort();
    }
  }

  async #readNow(): Promise<StoreSize | null> {
    this.#dueMs = Number.POSITIVE_INFINITY;
    try {
      const size = await readStoreSize(this.#engine);
      this.#hasFailed = false;
      return size;
    } catch (thrown) {
      const level = this.#hasFailed ? "debug" : "warn";
      this.#log[level]({ err: toError(thrown) }, "the size of the store could not be read");
      this.#hasFailed = true;
      return null;
    } finally {
      const { sizeKeptMs, sizeRetryMs } = storeLimits;
      this.#dueMs = this.#clock.monotonicMs() + (this.#hasFailed ? sizeRetryMs : sizeKeptMs);
    }
  }
}

async function readStoreSize(engine: Engine): Promise<StoreSize> {
  const tables = await engine.query(
    // Views have no rows of their own.
    `SELECT name, total_rows, total_bytes, active_parts FROM system.tables
     WHERE database = currentDatabase() AND total_rows IS NOT NULL ORDER BY name`,
  );
  const [covered] = await engine.query(
    `SELECT count(), max(to_block) - min(from_block) + 1, sum(to_block - from_block + 1)
     FROM commits`,
  );
  const [commits, blocks, committed] = (covered ?? []).map(Number);
  return {
    tables: tables.map(([table, rows, bytes, parts]) => ({
      table: String(table),
      rows: Number(rows),
      bytes: Number(bytes),
      parts: Number(parts),
    })),
    missingBlocks: commits === 0 ? 0 : Number(blocks) - Number(committed),
  };
}
