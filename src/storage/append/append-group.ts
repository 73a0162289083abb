import { assert } from "../../base/assert.ts";
import { settleAll } from "../../base/time/settle-all.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import type { Delta } from "../../market/delta.ts";
import { countNames, getCount } from "../codec/commit-counts.ts";
import { decodeDelta } from "../codec/decode-delta.ts";
import {
  type BatchHead,
  type BatchRows,
  type EncodedBatch,
  releaseRows,
} from "../codec/encode-facts.ts";
import type { Engine, SelectedRows } from "../engine/engine.ts";
import { getToken } from "../engine/insert-until-there.ts";
import type { SpoolFile } from "../engine/spool-file.ts";
import { untilAdmitted } from "../engine/until-admitted.ts";
import { type FactTable, rowsOfTable } from "../schema/fact-tables.ts";

type FileRange = { readonly begin: number; readonly length: number };

/** A batch whose rows are in files, and where those of its delta are in theirs. */
type SpooledBatch = {
  readonly head: BatchHead;
  readonly fills: FileRange;
  readonly supplies: FileRange;
};

/**
 * Consecutive batches that are appended together. Their rows are spooled to files: a group is large, so
 * that inserts are cheap (decision 0005), and would take too much memory.
 */
export class AppendGroup {
  readonly #engine: Engine;
  readonly #selected: ReadonlyMap<FactTable, SelectedRows>;
  readonly #files = new Map<keyof BatchRows, SpoolFile>();
  readonly #batches: SpooledBatch[] = [];
  #rows = 0;

  /** Tables can take the rows of a query instead of those of the batches. */
  constructor(engine: Engine, selected: ReadonlyMap<FactTable, SelectedRows> = new Map()) {
    this.#engine = engine;
    this.#selected = selected;
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

  /** Adds a batch. Call it again only after it has resolved. Throws `DataDirectoryUnwritableError`. */
  async add({ rows, ...head }: EncodedBatch): Promise<void> {
    const fills = await this.#append("fills", rows.fills);
    const supplies = await this.#append("supplies", rows.supplies);
    await this.#append("minuteCandles", rows.minuteCandles);
    await this.#append("events", rows.events);
    await this.#append("quarantine", rows.quarantine);
    await this.#append("ledger", rows.ledger);
    await this.#append("balances", rows.balances);
    this.#batches.push({ head, fills, supplies });
    const { tally } = head;
    this.#rows += countNames.reduce((sum, name) => sum + getCount(tally, name), 0);
  }

  /** Inserts all rows of these tables, under the insert tokens of an attempt. Durable when it resolves. */
  async insert(tables: readonly FactTable[], attempt = 1): Promise<void> {
    const { from, to } = this.range;
    await settleAll(
      tables.map(async (table) => {
        const rows = this.#selected.get(table) ?? this.#files.get(rowsOfTable[table]);
        if (rows === undefined) return;
        const token = getToken(`${table}:${from}-${to}`, attempt);
        await untilAdmitted(() => this.#engine.insert(table, rows, token));
      }),
    );
  }

  /** Reads the delta of each batch, in order. */
  async *deltas(): AsyncGenerator<{ readonly head: BatchHead; readonly delta: Delta }> {
    for (const { head, ...ranges } of this.#batches) {
      const fills = await this.#read("fills", ranges.fills);
      const supplies = await this.#read("supplies", ranges.supplies);
      yield { head, delta: decodeDelta(head, { fills, supplies }) };
      releaseRows({ fills, supplies });
    }
  }

  async #read(kind: keyof BatchRows, { begin, length }: FileRange): Promise<Uint8Array> {
    const rows = Buffer.allocUnsafeSlow(length);
    await this.#files.get(kind)?.read(begin, rows);
    return rows;
  }

  async close(): Promise<void> {
    const files = [...this.#files.values()];
    this.#files.clear();
    for (const file of files) await file.close();
  }

  /** Returns where the rows are in their file. */
  async #append(kind: keyof BatchRows, rows: Uint8Array): Promise<FileRange> {
    const { length } = rows;
    if (length === 0) return { begin: 0, length };
    let file = this.#files.get(kind);
    if (file === undefined) {
      file = await this.#engine.openRows();
      this.#files.set(kind, file);
    }
    return { begin: await file.append(rows), length };
  }
}
