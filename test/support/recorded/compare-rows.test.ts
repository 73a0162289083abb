import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFallingSeq, assertSameRows, assertShape } from "./compare-rows.ts";

const row = (id: string, rest: object = {}) => ({ name: `case ${id}`, fields: { id, ...rest } });

test("equal rows pass in any order, and fields that are not expected are ignored", () => {
  assertSameRows(
    "rows",
    [row("a", { tokens: [{ price: "1" }] }), row("b")],
    [{ id: "b" }, { id: "a", tokens: [{ price: "1", winner: true }], size: "2" }],
  );
});

test("differences are reported with their path; missing, extra and repeated rows with their id", () => {
  const expected = [row("a", { tokens: [{ price: "1" }] }), row("b", { size: null }), row("c")];
  const served = [
    { id: "a", tokens: [{ price: "2" }] },
    { id: "b" },
    { id: "d" },
    { id: "c" },
    { id: "c" },
  ];
  assert.throws(() => assertSameRows("rows", expected, served), {
    message: [
      "rows: 4 differences in 3 rows",
      '  case a.tokens[0].price: expected "1", got "2"',
      "  case b.size: expected null, got undefined",
      "  case c: c is served 2 times",
      "  d is served but not expected",
    ].join("\n"),
  });
});

test("a shape is exact, and a time as text must equal the time in milliseconds", () => {
  const keys = ["id", "timestamp", "timestamp_ms"];
  const good = { id: "a", timestamp: "2025-01-01T00:00:00Z", timestamp_ms: 1_735_689_600_000 };
  assertShape("row", [good], keys);
  assert.throws(() => assertShape("row", [{ ...good, more: 1 }], keys));
  assert.throws(() => assertShape("row", [{ ...good, timestamp_ms: 0 }], keys));
});

test("rows with equal sequence numbers are not in descending order", () => {
  assertFallingSeq("rows", [{ seq: 3 }, { seq: 1 }]);
  assert.throws(() => assertFallingSeq("rows", [{ seq: 3 }, { seq: 3 }]));
});
