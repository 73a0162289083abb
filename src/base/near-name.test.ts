import assert from "node:assert/strict";
import { test } from "node:test";
import { nearName } from "./near-name.ts";

const names = ["limit", "cursor", "order", "include_complement"];

test("a slip of one letter finds the name that was meant", () => {
  assert.equal(nearName("limt", names), "limit");
  assert.equal(nearName("lmiit", names), "limit");
  assert.equal(nearName("Limit", names), "limit");
  assert.equal(nearName("curser", names), "cursor");
  assert.equal(nearName("includeComplement", names), "include_complement");
});

test("a name that is far from all, or very long, finds none", () => {
  assert.equal(nearName("resolution", names), null);
  assert.equal(nearName("x", names), null);
  assert.equal(nearName("limit".repeat(1000), names), null);
});
