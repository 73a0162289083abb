import assert from "node:assert/strict";
import { test } from "node:test";
import { toWords } from "./search-words.ts";

test("special letters are folded to ASCII, as people type them on other keyboards", () => {
  assert.deepEqual(toWords("Łódź, Malmø & STRAẞE: Đoković–Æthelred"), [
    "lodz",
    "malmo",
    "strasse",
    "dokovic",
    "aethelred",
  ]);
  assert.deepEqual(toWords("Þórr ð œuvre ħ ıstanbul"), ["thorr", "d", "oeuvre", "h", "istanbul"]);
});
