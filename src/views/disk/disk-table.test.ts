import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { testSeed } from "../../../test/support/property-settings.ts";
import { SeededRandom } from "../../../test/support/seeded-random.ts";
import { storeLimits } from "../../base/config/limits.ts";
import { DiskTable } from "./disk-table.ts";

const codec = { encode: String, decode: Number };

function openTable(sql: DatabaseSync, name = "numbers"): DiskTable<string, number> {
  return new DiskTable({ sql, onDamaged: () => {} }, name, codec);
}

function getKey(index: number): string {
  return `0x${index.toString(16).padStart(8, "0")}`;
}

function countRows(sql: DatabaseSync): number {
  return Number(sql.prepare("SELECT count(*) AS rows FROM table_numbers").get()?.["rows"]);
}

describe("a table in a file", () => {
  it("returns the value that was set last, whether it is written or cached or neither", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const table = openTable(sql);
    const expected = new Map<string, number>();
    const random = new SeededRandom(testSeed);
    // More keys than can be cached or unwritten at the same time.
    const keys = storeLimits.tableCachedMax * 3;
    for (let step = 0; step < keys * 4; step += 1) {
      const key = getKey(random.integer(0, keys));
      if (step % 5 === 0) assert.equal(table.get(key), expected.get(key));
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
    // Reads what the table contains, without the cache.
    const reopened = openTable(sql);
    for (const [key, value] of expected) assert.equal(reopened.get(key), value);
    sql.close();
  });

  it("writes a key once that is set many times", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const table = openTable(sql);
    for (let value = 0; value < 50_000; value += 1) table.set(getKey(value % 100), value);
    assert.equal(countRows(sql), 0);
    table.flush();
    const [changes] = sql.prepare("SELECT total_changes() AS changes").all();
    assert.equal(changes?.["changes"], 100);
    sql.close();
  });

  it("keeps separate values for a key in different parts of one table", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const [one, other] = [openTable(sql, "numbers.one"), openTable(sql, "numbers.other")];
    for (let index = 0; index < 10; index += 1) one.set(getKey(index), index);
    for (let index = 5; index < 15; index += 1) other.set(getKey(index), -index);
    one.delete(getKey(7));
    for (const table of [one, other]) table.flush();
    assert.equal(countRows(sql), 19);
    const readColumn = (name: string) =>
      [0, 5, 7, 14].map((index) => openTable(sql, name).get(getKey(index)));
    assert.deepEqual(readColumn("numbers.one"), [0, 5, undefined, undefined]);
    assert.deepEqual(readColumn("numbers.other"), [undefined, -5, -7, -14]);
    sql.close();
  });

  it("bounds the number of unwritten values, and has written all of them when loading ends", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const table = openTable(sql);
    let keys = 0;
    const assertWritten = (unwrittenMax: number) => {
      for (const end = keys + unwrittenMax * 2; keys < end; keys += 1)
        table.set(getKey(keys), keys);
      assert(countRows(sql) >= keys - unwrittenMax);
    };
    assertWritten(storeLimits.tableLoadedMax);
    table.finishLoading();
    assert.equal(countRows(sql), keys);
    assertWritten(storeLimits.tableUnwrittenMax);
    sql.close();
  });
});
