import { assert } from "../base/assert.ts";
import { settleAll } from "../base/time/settle-all.ts";
import type { BlockRange } from "../chain/raw-log.ts";
import type { Delta } from "../market/delta.ts";
import { decodeDelta } from "./codec/decode-delta.ts";
import {
  type BatchHead,
  type BatchRows,
  type EncodedBatch,
  releaseRows,
} from "./codec/encode-facts.ts";
import type { Engine } from "./engine/engine.ts";
import type { SpoolFile } from "./engine/spool-file.ts";
import { untilAdmitted } from "./engine/until-admitted.ts";
import { type FactTable, rowsOfTable } from "./schema/fact-tables.ts";
import { tokenOf } from "./server/insert-until-there.ts";

/** Where the rows of a batch are in their file, in bytes. */
type Place = { readonly begin: number; readonly length: number };

type SpooledBatch = {
  readonly head: BatchHead;
  readonly places: Readonly<Record<keyof BatchRows, Place>>;
};

/**
 * Consecutive batches that are appended together. Their rows are spooled to files: a group is large, so
 * that inserts are cheap (decision 0005), and would take too much memory.
 */
export class AppendGroup {
  readonly #engine: Engine;
  readonly #files = new Map<keyof BatchRows, SpoolFile>();
  readonly #batches: SpooledBatch[] = [];
  #rows = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The number of rows of facts, without those of candles. */
  get rows(): number {
    return this.#rows;
  }

  get batches(): readonly BatchHead[] {
    return this.#batches.map(({ head }) => head);
  }

  get range(): BlockRange {
    const [first, last] = [this.#batches[0]?.head, this.#batches.at(-1)?.head];
    assert(first !== undefined && last !== undefined, "a group has batches");
    return { from: first.fromBlock, to: last.last.number };
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /** Adds a batch. Call it again only after it has resolved. Throws `DataFolderUnwritableError`. */
  async add({ rows, ...head }: EncodedBatch): Promise<void> {
    const places = {
      fills: await this.#append("fills", rows.fills),
      minuteCandles: await this.#append("minuteCandles", rows.minuteCandles),
      events: await this.#append("events", rows.events),
      quarantine: await this.#append("quarantine", rows.quarantine),
    };
    this.#batches.push({ head, places });
    const { tally } = head;
    this.#rows += tally.fills + tally.events + tally.quarantined.length;
  }

  /** Inserts all rows of these tables, under the insert tokens of an attempt. Durable when it resolves. */
  async insert(tables: readonly FactTable[], attempt = 1): Promise<void> {
    const { from, to } = this.range;
    await settleAll(
      tables.map(async (table) => {
        const rows = this.#files.get(rowsOfTable[table]);
        if (rows === undefined) return;
        const token = tokenOf(`${table}:${from}-${to}`, attempt);
        await untilAdmitted(() => this.#engine.insert(table, rows, token));
      }),
    );
  }

  /** Reads the delta of each batch, in order. */
  async *deltas(): AsyncGenerator<{ readonly head: BatchHead; readonly delta: Delta }> {
    for (const { head, places } of this.#batches) {
      const rows = {
        fills: await this.#read("fills", places.fills),
        minuteCandles: await this.#read("minuteCandles", places.minuteCandles),
      };
      yield { head, delta: decodeDelta({ ...head, rows }) };
      releaseRows(rows);
    }
  }

  async close(): Promise<void> {
    const files = [...this.#files.values()];
    this.#files.clear();
    for (const file of files) await file.close();
  }

  async #append(kind: keyof BatchRows, rows: Uint8Array): Promise<Place> {
    const { length } = rows;
    if (length === 0) return { begin: 0, length };
    let file = this.#files.get(kind);
    if (file === undefined) {
      file = await this.#engine.openRows();
      this.#files.set(kind, file);
    }
    return { begin: await file.append(rows), length };
  }

  async #read(kind: keyof BatchRows, { begin, length }: Place): Promise<Buffer> {
    const rows = Buffer.allocUnsafeSlow(length);
    await this.#files.get(kind)?.read(begin, rows);
    return rows;
  }
}
