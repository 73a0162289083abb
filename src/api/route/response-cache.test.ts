import assert from "node:assert/strict";
import { test } from "node:test";
import { webLimits } from "../../base/config/limits.ts";
import { RecentRequests } from "./response-cache.ts";

test("remembers recently requested keys and forgets older ones", () => {
  const recent = new RecentRequests();
  assert.equal(recent.isRepeat("one"), false);
  assert.equal(recent.isRepeat("one"), true);
  const others = (of: string) =>
    Array.from({ length: webLimits.recentRequestsMax }, (_, n) => of + n);
  for (const key of others("a")) assert.equal(recent.isRepeat(key), false);
  assert.equal(recent.isRepeat("one"), true);
  for (const key of [...others("b"), ...others("c")]) assert.equal(recent.isRepeat(key), false);
  assert.equal(recent.isRepeat("one"), false);
});
