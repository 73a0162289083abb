import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { test } from "node:test";
import { holdTickShape } from "./tick-shape.ts";

test("what is held is made as everything for the next tick is", async () => {
  const held = holdTickShape();
  const ticks: object[] = [];
  const hook = createHook({
    init: (...[, type, , resource]) => {
      if (type === "TickObject") ticks.push(resource);
    },
  });
  hook.enable();
  await new Promise<void>((resolve) => process.nextTick(resolve));
  hook.disable();
  const [tick] = ticks;
  assert.ok(held !== null && tick !== undefined && tick !== held);
  assert.deepEqual(Reflect.ownKeys(held), Reflect.ownKeys(tick));
});
