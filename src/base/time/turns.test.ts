import assert from "node:assert/strict";
import { test } from "node:test";
import { mapYielding, sortYielding, yieldToEventLoop } from "./turns.ts";

test("each iteration of the event loop grants one waiter, in order", async () => {
  const order: string[] = [];
  const work = async (name: string) => {
    for (let slice = 0; slice < 3; slice += 1) {
      await yieldToEventLoop();
      order.push(name);
    }
  };
  const all = Promise.all([work("a"), work("b")]);
  while (order.length < 6) {
    const { length } = order;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    assert(order.length <= length + 1);
  }
  await all;
  assert.deepEqual(order, ["a", "b", "a", "b", "a", "b"]);
});

test("long work is split into slices, short work runs in one", async () => {
  let iterations = 0;
  let isOver = false;
  const count = () => {
    iterations += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const items = [1, 2, 3, 4, 5];
  assert.deepEqual(await mapYielding(items, (item) => 2 * item), [2, 4, 6, 8, 10]);
  assert.equal(iterations, 0);
  const slowly = (item: number) => {
    for (const endsAtMs = performance.now() + 5; performance.now() < endsAtMs; );
    return -item;
  };
  assert.deepEqual(await mapYielding(items, slowly), [-1, -2, -3, -4, -5]);
  isOver = true;
  assert(iterations >= 4, `${iterations} iterations`);
});

test("sorting in slices gives what toSorted gives, equal items in their order", async () => {
  const compare = (one: { key: number }, other: { key: number }) => one.key - other.key;
  for (const length of [0, 1, 255, 256, 257, 5_000]) {
    const items = Array.from({ length }, (_, at) => ({ at, key: (at * 7919) % 101 }));
    assert.deepEqual(await sortYielding(items, compare), items.toSorted(compare));
  }
});
