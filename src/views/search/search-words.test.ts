import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsOf } from "./search-words.ts";

test("letters are folded to what people type who lack the keyboard of the language", () => {
  assert.deepEqual(wordsOf("Łódź, Malmø & STRAẞE: Đoković–Æthelred"), [
    "lodz",
    "malmo",
    "strasse",
    "dokovic",
    "aethelred",
  ]);
  assert.deepEqual(wordsOf("Þórr ð œuvre ħ ıstanbul"), ["thorr", "d", "oeuvre", "h", "istanbul"]);
});
