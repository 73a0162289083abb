import assert from "node:assert/strict";
import { test } from "node:test";
import { type Chunk, inChunks } from "./chunked-loop.ts";

test("chunks cover the length without a gap, and each gets the sum of the chunks before it", () => {
  for (const length of [0, 1, 4095, 4096, 4097, 20_000]) {
    const steps: (Chunk & { before: number })[] = [];
    const sum = inChunks(length, ({ from, to }, before) => {
      steps.push({ from, to, before });
      return to - from;
    });
    assert.equal(sum, length);
    assert.deepEqual(
      steps.map(({ from }) => from),
      [0, ...steps.map(({ to }) => to)].slice(0, steps.length),
    );
    assert.equal(steps.at(-1)?.to ?? 0, length);
    assert.ok(steps.every(({ from, before }) => before === from));
  }
});
