import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { testSeed } from "../../test/support/property-settings.ts";
import { SeededRandom } from "../../test/support/seeded-random.ts";
import { storeLimits } from "../base/limits.ts";
import { FileShelf } from "./file-shelf.ts";

const codec = { encode: String, decode: Number };

function openShelf(sql: DatabaseSync): FileShelf<string, number> {
  return new FileShelf(sql, "numbers", codec);
}

function keyOf(index: number): string {
  return `0x${index.toString(16).padStart(8, "0")}`;
}

function countRows(sql: DatabaseSync): number {
  return Number(sql.prepare("SELECT count(*) AS rows FROM shelf_numbers").get()?.["rows"]);
}

describe("a shelf in a file", () => {
  it("tells what was set last, written or not, remembered or not", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const shelf = openShelf(sql);
    const expected = new Map<string, number>();
    const random = new SeededRandom(testSeed);
    // More keys than are remembered or unwritten at once.
    const keys = storeLimits.shelfRememberedMax * 3;
    for (let step = 0; step < keys * 4; step += 1) {
      const key = keyOf(random.integer(0, keys));
      if (step % 5 === 0) assert.equal(shelf.get(key), expected.get(key));
      else if (step % 3 === 0) {
        const change = (before = 0) => 2 * before + step;
        shelf.update(key, change);
        expected.set(key, change(expected.get(key)));
      } else if (step % 11 === 0) shelf.settle();
      else if (step % 7 === 0) {
        shelf.delete(key);
        expected.delete(key);
      } else {
        shelf.set(key, step);
        expected.set(key, step);
      }
    }
    shelf.flush();
    assert.equal(countRows(sql), expected.size);
    // Of what the table holds alone.
    const reopened = openShelf(sql);
    for (const [key, value] of expected) assert.equal(reopened.get(key), value);
    sql.close();
  });

  it("writes a key that is set again and again but once", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const shelf = openShelf(sql);
    for (let value = 0; value < 50_000; value += 1) shelf.set(keyOf(value % 100), value);
    assert.equal(countRows(sql), 0);
    shelf.flush();
    const [changes] = sql.prepare("SELECT total_changes() AS changes").all();
    assert.equal(changes?.["changes"], 100);
    sql.close();
  });

  it("keeps few values unwritten once it has settled", () => {
    const sql = new DatabaseSync(":memory:");
    sql.exec("BEGIN");
    const shelf = openShelf(sql);
    assert(!shelf.settle());
    const keys = storeLimits.shelfUnwrittenMax * 2;
    for (let index = 0; index < keys; index += 1) shelf.set(keyOf(index), index);
    assert(countRows(sql) >= keys - storeLimits.shelfUnwrittenMax);
    sql.close();
  });
});
