import assert from "node:assert/strict";
import { test } from "node:test";
import { InvariantError } from "../base/assert.ts";
import {
  decimalLiteral,
  hexLiteral,
  integerLiteral,
  listLiteral,
  wordLiteral,
} from "./sql-literal.ts";

test("values are formatted as literals", () => {
  assert.equal(hexLiteral("0x0aff"), "'\\x0a\\xff'");
  assert.equal(listLiteral(["1", "'a'"]), "(1, 'a')");
  assert.equal(integerLiteral(-7), "-7");
  assert.equal(decimalLiteral(-1_500_000n), "toDecimal128('-1.5', 6)");
  assert.equal(wordLiteral("neg_risk"), "'neg_risk'");
});

test("any other value throws", () => {
  const wrong = [
    () => hexLiteral("0x0AFF"),
    () => hexLiteral("0x0"),
    () => hexLiteral("0x"),
    () => hexLiteral("0x00' OR 1"),
    () => hexLiteral("0x00\n"),
    () => listLiteral([]),
    () => integerLiteral(1.5),
    () => integerLiteral(2 ** 53),
    () => integerLiteral(Number.NaN),
    () => wordLiteral("a' OR '1'='1"),
    () => wordLiteral(""),
    () => wordLiteral("a\n"),
  ];
  for (const literal of wrong) assert.throws(literal, InvariantError, literal.toString());
});
