import type { DatabaseSync, StatementSync } from "node:sqlite";
import { storeLimits } from "../../base/config/limits.ts";
import { withinTransaction } from "../../storage/sqlite/sqlite-failure.ts";
import type { KeyFilter } from "./key-filter.ts";
import type { Codec, StateTable, ValueChanges } from "./state-store.ts";

/** What is remembered of a key that has no value. */
const nothing = Symbol("nothing");

/**
 * Values by key in a table, with those used lately in memory. Two generations of them are kept: when
 * the younger is full, the older, of which nothing was asked for since, is forgotten.
 *
 * What is set is written some thousands of keys later: the totals of a busy token change with every
 * batch, and only the last of them counts. Values that are to be changed are looked up later still:
 * a start changes a hundred thousand, and most of them no one asks for.
 *
 * Tables whose names differ behind a dot only are parts of one table: what they have for the same key
 * stands side by side, so that a client that asks all of them waits for the disk once.
 */
export class DiskTable<Key extends string, Value> implements StateTable<Key, Value> {
  readonly #sql: DatabaseSync;
  readonly #codec: Codec<Value>;
  readonly #filter: KeyFilter;
  readonly #read: StatementSync;
  readonly #write: StatementSync;
  readonly #erase: StatementSync;
  #young = new Map<Key, Value | typeof nothing>();
  #old = new Map<Key, Value | typeof nothing>();
  /** In the order in which the keys were first set. */
  readonly #unwritten = new Map<Key, Value | typeof nothing>();
  #unwrittenMax: number = storeLimits.tableUnwrittenLoadingMax;
  /** What is still to become of values, none of which is remembered; 1 by number where it was done. */
  #changes: ValueChanges<Key, Value> | null = null;
  #isDone = new Uint8Array(0);
  #nextChange = 0;

  /**
   * `name` is ours and safe in SQL; keys are `0x` hex. `filter` has all keys of the table, and is saved
   * with it.
   */
  constructor(
    sql: DatabaseSync,
    { name, codec, filter }: { name: string; codec: Codec<Value>; filter: KeyFilter },
  ) {
    const [kind, part = ""] = name.split(".");
    const table = `shelf_${kind}`;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (key BLOB, part TEXT, value TEXT NOT NULL, PRIMARY KEY (key, part)) STRICT, WITHOUT ROWID`,
    );
    this.#sql = sql;
    this.#codec = codec;
    this.#filter = filter;
    this.#read = sql.prepare(`SELECT value FROM ${table} WHERE key = ? AND part = '${part}'`);
    this.#read.setReturnArrays(true);
    this.#write = sql.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, '${part}', ?)`);
    this.#erase = sql.prepare(`DELETE FROM ${table} WHERE key = ? AND part = '${part}'`);
  }

  get(key: Key): Value | undefined {
    const known = this.#young.get(key) ?? this.#recall(key);
    return known === nothing ? undefined : known;
  }

  set(key: Key, value: Value): void {
    this.#change(key, value);
  }

  updateAll(changes: ValueChanges<Key, Value>): void {
    this.#changeNext(Number.POSITIVE_INFINITY);
    this.#changes = changes;
    this.#isDone = new Uint8Array(changes.length);
    this.#nextChange = 0;
    // What is not written yet is found all the same.
    this.#young = new Map();
    this.#old = new Map();
  }

  delete(key: Key): void {
    this.#change(key, nothing);
  }

  /** Does a little of what was put off while loading; answers whether some of it is left. */
  settle(): boolean {
    this.#unwrittenMax = storeLimits.tableUnwrittenMax;
    const { tableUnwrittenMax, tableWriteBatch } = storeLimits;
    this.#changeNext(tableWriteBatch);
    if (this.#unwritten.size > tableUnwrittenMax) this.#writeOldest(tableWriteBatch);
    return this.#changes !== null || this.#unwritten.size > tableUnwrittenMax;
  }

  /** Writes what is not written yet. Throws `DataFolderUnwritableError`. */
  flush(): void {
    this.#changeNext(Number.POSITIVE_INFINITY);
    this.#writeOldest(this.#unwritten.size);
  }

  #change(key: Key, value: Value | typeof nothing): void {
    this.#takeChange(key);
    this.#remember(key, value);
    this.#unwritten.set(key, value);
    if (this.#unwritten.size > this.#unwrittenMax) this.#writeOldest(storeLimits.tableWriteBatch);
  }

  /** Does some of what is still to become of values. */
  #changeNext(count: number): void {
    const changes = this.#changes;
    if (changes === null) return;
    for (let rest = count; this.#nextChange < changes.length; this.#nextChange += 1) {
      if (rest === 0) return;
      const isDone = this.#isDone[this.#nextChange] === 1;
      const key = isDone ? null : changes.keyAt(this.#nextChange);
      if (key === null) continue;
      rest -= 1;
      this.get(key);
    }
    this.#changes = null;
  }

  /** The number of what is still to become of a value, which counts as done; -1 when it stays. */
  #takeChange(key: Key): number {
    const number = this.#changes?.find(key) ?? -1;
    if (number === -1 || this.#isDone[number] === 1) return -1;
    this.#isDone[number] = 1;
    return number;
  }

  #writeOldest(count: number): void {
    if (count === 0) return;
    withinTransaction(this.#sql, () => {
      let rest = count;
      for (const [key, value] of this.#unwritten) {
        if (rest === 0) return;
        rest -= 1;
        if (value === nothing) this.#erase.run(bytesOf(key));
        else this.#writeRow(key, value);
        this.#unwritten.delete(key);
      }
    });
  }

  #writeRow(key: Key, value: Value): void {
    this.#filter.add(key);
    this.#write.run(bytesOf(key), this.#codec.encode(value));
  }

  #recall(key: Key): Value | typeof nothing {
    const known = this.#old.get(key) ?? this.#unwritten.get(key) ?? this.#readRow(key);
    const changes = this.#changes;
    const number = this.#takeChange(key);
    if (changes === null || number === -1) {
      this.#remember(key, known);
      return known;
    }
    const value = changes.change(number, key, known === nothing ? undefined : known);
    this.#change(key, value);
    return value;
  }

  #readRow(key: Key): Value | typeof nothing {
    if (!this.#filter.mayHave(key)) return nothing;
    const row = this.#read.get(bytesOf(key)) as unknown as [string] | undefined;
    return row === undefined ? nothing : this.#codec.decode(row[0]);
  }

  #remember(key: Key, value: Value | typeof nothing): void {
    this.#young.set(key, value);
    if (this.#young.size < storeLimits.tableCachedMax) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}

function bytesOf(key: string): Uint8Array {
  return Buffer.from(key.slice(2), "hex");
}
