import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchFailure } from "./errors.ts";

test("the reason of a failed fetch is that of its cause, also when every address of a host fails", () => {
  const failed = (cause?: unknown) => fetchFailure(new TypeError("fetch failed", { cause }));
  assert.equal(failed(), "fetch failed");
  assert.equal(failed(new Error("other side closed")), "other side closed");
  const everyAddress = new AggregateError([new Error("one"), new Error("two")]);
  assert.equal(failed(Object.assign(everyAddress, { code: "ECONNREFUSED" })), "ECONNREFUSED");
  assert.equal(failed(everyAddress.errors), "fetch failed");
});
