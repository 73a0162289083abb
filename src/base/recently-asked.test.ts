import assert from "node:assert/strict";
import { test } from "node:test";
import { storeLimits } from "./config/limits.ts";
import { RecentlyAsked } from "./recently-asked.ts";

test("remembers the keys that were asked for recently, and forgets older ones", () => {
  const asked = new RecentlyAsked();
  assert.equal(asked.ask("one"), false);
  assert.equal(asked.ask("one"), true);
  const others = (of: string) => Array.from({ length: storeLimits.askedOnceMax }, (_, n) => of + n);
  for (const key of others("a")) assert.equal(asked.ask(key), false);
  assert.equal(asked.ask("one"), true);
  for (const key of [...others("b"), ...others("c")]) assert.equal(asked.ask(key), false);
  assert.equal(asked.ask("one"), false);
});
