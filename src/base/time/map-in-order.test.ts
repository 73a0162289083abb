import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { mapInOrder } from "./map-in-order.ts";

async function collect<T>(results: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const result of results) all.push(result);
  return all;
}

test("results come in the order of the items, with at most the given number in progress", async () => {
  let running = 0;
  let most = 0;
  const work = async (item: number): Promise<number> => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = item % 4; turn >= 0; turn -= 1) await setImmediate();
    running -= 1;
    return item * 2;
  };
  const items = Array.from({ length: 20 }, (_, index) => index);
  assert.deepEqual(
    await collect(mapInOrder(items, work, 3)),
    items.map((item) => item * 2),
  );
  assert.equal(most, 3);
});

test("a failure is thrown after the results of earlier items", async () => {
  const seen: number[] = [];
  const work = async (item: number): Promise<number> => {
    if (item === 2) throw new Error("two");
    await setImmediate();
    return item;
  };
  await assert.rejects(async () => {
    for await (const item of mapInOrder([0, 1, 2, 3], work, 4)) seen.push(item);
  }, /two/);
  assert.deepEqual(seen, [0, 1]);
});
