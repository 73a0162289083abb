import type { DatabaseSync, StatementSync } from "node:sqlite";
import { storeLimits } from "../../base/config/limits.ts";
import { noticingDamage, withinTransaction } from "../../storage/sqlite/sqlite-failure.ts";
import type { Codec, StateTable } from "./state-store.ts";

/** The open file of tables. `onDamaged` is called whenever a read or a write finds it damaged. */
type TableFile = { readonly sql: DatabaseSync; readonly onDamaged: () => void };

/** Stands for a key that is known to have no value. */
const nothing = Symbol("nothing");

/**
 * Values by key in a table of SQLite, with a cache of recently used values. The cache has two generations: when the
 * young one is full, it replaces the old one, whose values were not used since.
 *
 * Writes are delayed by some thousands of keys, because the totals of a busy token change with every batch and only the
 * last value counts. Names that differ only after a dot share one table of SQLite, so that their values for
 * the same key are read together.
 */
export class DiskTable<Key extends string, Value> implements StateTable<Key, Value> {
  readonly #file: TableFile;
  readonly #codec: Codec<Value>;
  readonly #read: StatementSync;
  readonly #write: StatementSync;
  readonly #erase: StatementSync;
  #young = new Map<Key, Value | typeof nothing>();
  #old = new Map<Key, Value | typeof nothing>();
  /** Values that were set but not written yet, in the order in which their keys were first set. */
  readonly #unwritten = new Map<Key, Value | typeof nothing>();
  #isLoading = true;

  /** `name` is a constant of the source and safe in SQL. Keys are `0x` hex. */
  constructor(file: TableFile, name: string, codec: Codec<Value>) {
    const [kind, part = ""] = name.split(".");
    const table = `table_${kind}`;
    const { sql } = file;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (key BLOB, part TEXT, value TEXT NOT NULL, PRIMARY KEY (key, part)) STRICT, WITHOUT ROWID`,
    );
    this.#file = file;
    this.#codec = codec;
    this.#read = sql.prepare(`SELECT value FROM ${table} WHERE key = ? AND part = '${part}'`);
    this.#read.setReturnArrays(true);
    this.#write = sql.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, '${part}', ?)`);
    this.#erase = sql.prepare(`DELETE FROM ${table} WHERE key = ? AND part = '${part}'`);
  }

  get(key: Key): Value | undefined {
    const found = this.#young.get(key) ?? this.#recall(key);
    return found === nothing ? undefined : found;
  }

  set(key: Key, value: Value): void {
    this.#change(key, value);
  }

  delete(key: Key): void {
    this.#change(key, nothing);
  }

  /** Writes all values that are not written yet. Throws `DataDirectoryUnwritableError`. */
  flush(): void {
    this.#writeOldest(this.#unwritten.size);
  }

  /** Ends loading. From now on values are written in small batches, which do not delay requests. */
  finishLoading(): void {
    this.#isLoading = false;
    this.flush();
  }

  #change(key: Key, value: Value | typeof nothing): void {
    this.#remember(key, value);
    this.#unwritten.set(key, value);
    const { size } = this.#unwritten;
    if (this.#isLoading && size > storeLimits.tableLoadedMax) this.flush();
    if (!this.#isLoading && size > storeLimits.tableUnwrittenMax) {
      this.#writeOldest(storeLimits.tableWriteBatch);
    }
  }

  #writeOldest(count: number): void {
    if (count === 0) return;
    const { sql, onDamaged } = this.#file;
    const write = () => {
      const oldest = this.#unwritten.entries().take(count).toArray();
      // Sorted like the table, so that values of one page are written together.
      for (const [key, value] of oldest.toSorted(([one], [other]) => (one < other ? -1 : 1))) {
        if (value === nothing) this.#erase.run(toBytes(key));
        else this.#write.run(toBytes(key), this.#codec.encode(value));
        this.#unwritten.delete(key);
      }
    };
    noticingDamage(onDamaged, () => withinTransaction(sql, write));
  }

  #recall(key: Key): Value | typeof nothing {
    const found = this.#old.get(key) ?? this.#unwritten.get(key) ?? this.#readRow(key);
    this.#remember(key, found);
    return found;
  }

  #readRow(key: Key): Value | typeof nothing {
    const { onDamaged } = this.#file;
    const row = noticingDamage(onDamaged, () => this.#read.get(toBytes(key))) as unknown as
      | [string]
      | undefined;
    return row === undefined ? nothing : this.#codec.decode(row[0]);
  }

  #remember(key: Key, value: Value | typeof nothing): void {
    this.#young.set(key, value);
    if (this.#young.size < storeLimits.tableCachedMax) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}

function toBytes(key: string): Uint8Array {
  return Buffer.from(key.slice(2), "hex");
}
