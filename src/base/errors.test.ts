import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchFailure } from "./errors.ts";

test("a failed fetch has a reason, also where no address of a host answers", () => {
  const failed = (cause?: unknown) => fetchFailure(new TypeError("fetch failed", { cause }));
  assert.equal(failed(), "fetch failed");
  assert.equal(failed(new Error("other side closed")), "other side closed");
  const everyAddress = new AggregateError([new Error("one"), new Error("two")]);
  assert.equal(failed(Object.assign(everyAddress, { code: "ECONNREFUSED" })), "ECONNREFUSED");
  assert.equal(failed(everyAddress.errors), "fetch failed");
});
