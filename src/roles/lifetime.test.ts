import assert from "node:assert/strict";
import { test } from "node:test";
import { Lifetime } from "./lifetime.ts";

test("closes parts in reverse order, also one that is opened meanwhile", async () => {
  const life = new Lifetime();
  const closed: string[] = [];
  life.onClose(() => void closed.push("first"));
  life.onClose(() => {
    closed.push("second");
    life.onClose(() => void closed.push("third"));
  });
  await life.close();
  assert.deepEqual(closed, ["second", "third", "first"]);
});

test("closes a part that is opened too late, and stops its role", async () => {
  const life = new Lifetime();
  await life.close();
  let isClosed = false;
  const close = () => {
    isClosed = true;
  };
  assert.throws(() => life.use({ close }), /closed while it was opened/);
  assert(isClosed);
});
