import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { testSeed } from "../../../test/support/property-settings.ts";
import { SeededRandom } from "../../../test/support/seeded-random.ts";
import { storeLimits } from "../../base/config/limits.ts";
import { Column } from "./column.ts";
import { DiskTable } from "./disk-table.ts";
import { KeyFilter } from "./key-filter.ts";
import type { ValueChanges } from "./state-store.ts";

const codec = { encode: String, decode: Number };

function openTable(sql: DatabaseSync, keys = new Column("u32")): DiskTable<string, number> {
  return new DiskTable(sql, { name: "numbers", codec, filter: new KeyFilter(keys) });
}

function keyOf(index: number): string {
  return `0x${index.toString(16).padStart(8, "0")}`;
}

/** Doubles numbers and adds another to them; every third change is of nothing. */
class NumberChanges implements ValueChanges<string, number> {
  readonly length: number;
  readonly #keys: readonly (string | null)[];
  readonly #numbers: ReadonlyMap<string | null, number>;
  readonly #added: number;
  readonly #done = new Set<string>();

  constructor(keys: Iterable<string>, added: number) {
    this.#keys = [...keys].map((key, index) => (index % 3 === 0 ? null : key));
    this.length = this.#keys.length;
    this.#numbers = new Map(this.#keys.map((key, number) => [key, number]));
    this.#added = added;
  }

  find(key: string): number {
    return this.#numbers.get(key) ?? -1;
  }

  keyAt(number: number): string | null {
    return this.#keys[number] ?? null;
  }

  change(number: number, key: string, before = 0): number {
    assert.equal(key, this.#keys[number]);
    assert(!this.#done.has(key), "a value changes once");
    this.#done.add(key);
    return 2 * before + this.#added;
  }

  changeAll(values: Map<string, number>): void {
    for (const key of this.#keys) {
      if (key !== null) values.set(key, 2 * (values.get(key) ?? 0) + this.#added);
    }
  }
}

function countRows(sql: DatabaseSync): number {
  return Number(sql.prepare("SELECT count(*) AS rows FROM shelf_numbers").get()?.["rows"]);
}

describe("a table in a file", () => {
  it("says what was set last, written or not, remembered or not", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const keysOfTable = new Column("u32");
    const table = openTable(sql, keysOfTable);
    const expected = new Map<string, number>();
    const random = new SeededRandom(testSeed);
    // More keys than are remembered or unwritten at the same time.
    const keys = storeLimits.tableCachedMax * 3;
    for (let step = 0; step < keys * 4; step += 1) {
      const key = keyOf(random.integer(0, keys));
      if (step % 5 === 0) assert.equal(table.get(key), expected.get(key));
      else if (step % 5003 === 0) {
        const changed = Array.from({ length: 1500 }, () => keyOf(random.integer(0, keys)));
        const changes = new NumberChanges(new Set(changed), step);
        table.updateAll(changes);
        changes.changeAll(expected);
      } else if (step % 11 === 0) table.settle();
      else if (step % 7 === 0) {
        table.delete(key);
        expected.delete(key);
      } else {
        table.set(key, step);
        expected.set(key, step);
      }
    }
    table.flush();
    assert.equal(countRows(sql), expected.size);
    // Of what the table holds alone.
    const reopened = openTable(sql, keysOfTable);
    for (const [key, value] of expected) assert.equal(reopened.get(key), value);
    sql.close();
  });

  it("writes a key that is set again and again but once", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const table = openTable(sql);
    for (let value = 0; value < 50_000; value += 1) table.set(keyOf(value % 100), value);
    assert.equal(countRows(sql), 0);
    table.flush();
    const [changes] = sql.prepare("SELECT total_changes() AS changes").all();
    assert.equal(changes?.["changes"], 100);
    sql.close();
  });

  it("reports apart what parts of one table have for the same key", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const filters = new Map<string, KeyFilter>();
    const open = (name: string) => {
      const filter = filters.get(name) ?? new KeyFilter(new Column("u32"));
      filters.set(name, filter);
      return new DiskTable<string, number>(sql, { name, codec, filter });
    };
    const [one, other] = [open("numbers.one"), open("numbers.other")];
    for (let index = 0; index < 10; index += 1) one.set(keyOf(index), index);
    for (let index = 5; index < 15; index += 1) other.set(keyOf(index), -index);
    one.delete(keyOf(7));
    for (const table of [one, other]) table.flush();
    assert.equal(countRows(sql), 19);
    const shown = (name: string) => [0, 5, 7, 14].map((index) => open(name).get(keyOf(index)));
    assert.deepEqual(shown("numbers.one"), [0, 5, undefined, undefined]);
    assert.deepEqual(shown("numbers.other"), [undefined, -5, -7, -14]);
    sql.close();
  });

  it("keeps few values unwritten once it has settled", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const table = openTable(sql);
    assert(!table.settle());
    const keys = storeLimits.tableUnwrittenMax * 2;
    for (let index = 0; index < keys; index += 1) table.set(keyOf(index), index);
    assert(countRows(sql) >= keys - storeLimits.tableUnwrittenMax);
    sql.close();
  });
});
