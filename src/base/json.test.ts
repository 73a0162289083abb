import assert from "node:assert/strict";
import { test } from "node:test";
import { tryParseJson } from "./json.ts";

const longChars = 2 ** 21;

test("R15: a long text with a value for every few characters is not parsed", () => {
  for (const part of ["[],", "{},", "0,", "[1],"]) {
    const list = `[${part.repeat(longChars / part.length)}0]`;
    assert.equal(tryParseJson(list), null, part);
  }
  assert.equal(tryParseJson("[".repeat(longChars)), null);
});

test("long responses of nodes and the venue are parsed", () => {
  const level = { price: "0.48", size: "30" };
  const levels = Array.from({ length: longChars / 28 }, () => level);
  assert.deepEqual(tryParseJson(JSON.stringify(levels)), levels);
  const transactions = Array.from({ length: longChars / 69 }, () => `0x${"ab".repeat(32)}`);
  assert.deepEqual(tryParseJson(JSON.stringify(transactions)), transactions);
});
