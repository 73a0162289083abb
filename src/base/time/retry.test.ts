import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRetryAfter } from "./retry.ts";

test("Retry-After is parsed as seconds or as a date", () => {
  assert.equal(parseRetryAfter("3"), 3_000);
  assert.equal(parseRetryAfter(undefined), null);
  assert.equal(parseRetryAfter("1.5"), 1_500, "fractions are none of HTTP, and yet are sent");
  for (const text of ["soon", "-1", "1.", "1 2", "2026-01-01"]) {
    assert.equal(parseRetryAfter(text), null, text);
  }
  const date = "Thu, 01 Jan 2026 00:00:10 GMT";
  assert.equal(parseRetryAfter(date, Date.UTC(2026, 0, 1)), 10_000);
  assert.equal(parseRetryAfter(date, Date.UTC(2027, 0, 1)), 0);
});
