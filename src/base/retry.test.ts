import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRetryAfter } from "./retry.ts";

test("Retry-After is seconds or a date", () => {
  assert.equal(parseRetryAfter("3"), 3_000);
  assert.equal(parseRetryAfter(undefined), null);
  assert.equal(parseRetryAfter("soon"), null);
  const date = "Thu, 01 Jan 2026 00:00:10 GMT";
  assert.equal(parseRetryAfter(date, Date.UTC(2026, 0, 1)), 10_000);
  assert.equal(parseRetryAfter(date, Date.UTC(2027, 0, 1)), 0);
});
