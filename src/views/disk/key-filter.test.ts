import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { Column } from "./column.ts";
import { KeyFilter } from "./key-filter.ts";

const count = 30_000;

function hashKey(index: number): string {
  return `0x${createHash("sha256").update(String(index)).digest("hex")}`;
}

/** Ids that differ in the middle, and then in one bit. */
function tokenKey(index: number): string {
  return `0x01${hashKey(index >>> 1).slice(2, 34)}${"0".repeat(29)}${index & 1}`;
}

function shortKey(index: number): string {
  return `0x${index.toString(16).padStart(8, "0")}`;
}

describe("a filter of keys", () => {
  for (const [what, keyOf] of Object.entries({ hashKey, tokenKey, shortKey })) {
    it(`has all keys that were added, and few others: ${what}`, () => {
      const bits = new Column("u32");
      const filter = new KeyFilter(bits);
      for (let index = 0; index < count; index += 1) filter.add(keyOf(index));
      // As the next life finds it.
      const block = bits.values.buffer.slice(0);
      for (const life of [filter, new KeyFilter(new Column("u32", block))]) {
        let others = 0;
        for (let index = 0; index < 2 * count; index += 1) {
          const mayHave = life.mayHave(keyOf(index));
          if (index < count) assert(mayHave);
          else if (mayHave) others += 1;
        }
        assert(others < count / 50, `${others} others`);
      }
    });
  }

  it("takes a few bytes a key, however often that is added", () => {
    const bits = new Column("u32");
    const filter = new KeyFilter(bits);
    for (let index = 0; index < count; index += 1) filter.add(hashKey(index));
    for (let index = 0; index < count; index += 1) filter.add(hashKey(index));
    assert(bits.values.byteLength < 6 * count);
  });
});
