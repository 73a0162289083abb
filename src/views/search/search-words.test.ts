import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsOf } from "./search-words.ts";

test("special letters are folded to ASCII, as people type them on other keyboards", () => {
  assert.deepEqual(wordsOf("Łódź, Malmø & STRAẞE: Đoković–Æthelred"), [
    "lodz",
    "malmo",
    "strasse",
    "dokovic",
    "aethelred",
  ]);
  assert.deepEqual(wordsOf("Þórr ð œuvre ħ ıstanbul"), ["thorr", "d", "oeuvre", "h", "istanbul"]);
});
