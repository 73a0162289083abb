import assert from "node:assert/strict";
import { test } from "node:test";
import { streamLimits } from "../../base/config/limits.ts";
import { History } from "./history.ts";

const { historyReadsAtOnceMax: max } = streamLimits;

test("at most `historyReadsAtOnceMax` reads are under way, in the order in which they came", async () => {
  const history = new History(-1, -1);
  const started: number[] = [];
  const reads = Array.from({ length: 3 * max }, () => Promise.withResolvers<number>());
  const results = reads.map((read, index) =>
    history.inTurn(async () => {
      started.push(index);
      return read.promise;
    }),
  );
  for (const [index, read] of reads.entries()) {
    const expected = Array.from({ length: Math.min(index + max, reads.length) }, (_, at) => at);
    assert.deepEqual(started, expected);
    // A failed read lets the next one start too.
    if (index % 2 === 0) read.resolve(index);
    else read.reject(new Error("a query failed"));
    await Promise.allSettled([results[index]]);
  }
  const settled = await Promise.allSettled(results);
  assert.deepEqual(
    settled.map(({ status }) => status === "fulfilled"),
    reads.map((_, index) => index % 2 === 0),
  );
});
