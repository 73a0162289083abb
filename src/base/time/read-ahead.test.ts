import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { readAhead } from "./read-ahead.ts";

/** What a source has done. */
type Seen = { read: number; isClosed: boolean };

async function* count(seen: Seen, failAt = Infinity): AsyncGenerator<number, void, undefined> {
  try {
    for (; seen.read < 5; yield seen.read) {
      if (seen.read === failAt) throw new Error("the source failed");
      seen.read += 1;
    }
  } finally {
    seen.isClosed = true;
  }
}

test("items come in order, and one more is read while one is used", async () => {
  const seen = { read: 0, isClosed: false };
  const items: number[] = [];
  for await (const item of readAhead(count(seen))) {
    items.push(item);
    await setImmediate();
    assert.equal(seen.read, Math.min(5, item + 1));
  }
  assert.deepEqual(items, [1, 2, 3, 4, 5]);
});

test("a source is closed when its reader leaves", async () => {
  const seen = { read: 0, isClosed: false };
  for await (const item of readAhead(count(seen))) if (item === 2) break;
  assert.deepEqual(seen, { read: 3, isClosed: true });
});

test("a failure is thrown after the items before it", async () => {
  const seen = { read: 0, isClosed: false };
  const items: number[] = [];
  const reading = async () => {
    for await (const item of readAhead(count(seen, 2))) {
      items.push(item);
      await setImmediate();
    }
  };
  await assert.rejects(reading, /the source failed/);
  assert.deepEqual(items, [1, 2]);
});
