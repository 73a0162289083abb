import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { InvariantError } from "../../base/assert.ts";
import { storeLimits } from "../../base/config/limits.ts";
import type { TokenId } from "../../base/ids.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import type { Delta } from "../../market/delta.ts";
import { HeadBuffer } from "./head-buffer.ts";

function block(number: number): BlockFacts {
  const rows = [{ seq: number, role: "taker" }];
  const rest = { timestamp: number, quarantined: [], anomalies: [] };
  return { number, fills: rows, events: rows, ...rest } as unknown as BlockFacts;
}

function deltaWith(facts: BlockFacts): Delta {
  return { block: facts } as unknown as Delta;
}

function getTail(from: number, to: number): HeadBuffer {
  const headBuffer = new HeadBuffer();
  for (let number = from; number <= to; number += 1) headBuffer.apply(deltaWith(block(number)));
  return headBuffer;
}

function toNumbers(blocks: readonly BlockFacts[]): number[] {
  return blocks.map(({ number }) => number);
}

describe("the head buffer", () => {
  test("grows by one block at a time", () => {
    const headBuffer = getTail(5, 6);
    assert.deepEqual([toNumbers(headBuffer.blocks), headBuffer.newest?.number], [[5, 6], 6]);
    for (const number of [5, 6, 8])
      assert.throws(() => headBuffer.apply(deltaWith(block(number))), InvariantError);
    assert.equal(new HeadBuffer().newest, null);
  });

  test("drops the blocks that a reorg reverts, and returns blocks oldest first", () => {
    const headBuffer = getTail(5, 9);
    assert.deepEqual(toNumbers(headBuffer.above(7)), [8, 9]);
    headBuffer.revert(7);
    assert.deepEqual(toNumbers(headBuffer.above(7)), []);
    headBuffer.apply(deltaWith(block(8)));
    assert.deepEqual(toNumbers(headBuffer.above(0)), [5, 6, 7, 8]);
    headBuffer.revert(0);
    assert.equal(headBuffer.newest, null);
  });

  test("counts the fills of a token in its current blocks", () => {
    const headBuffer = new HeadBuffer();
    const unfinalized = (number: number, tokenIds: readonly string[]): BlockFacts => {
      const fills = tokenIds.map((tokenId) => ({ seq: number, role: "taker", tokenId }));
      const rest = { timestamp: number, quarantined: [], anomalies: [] };
      return { number, fills, events: [], ...rest } as unknown as BlockFacts;
    };
    const [a, b] = ["a" as TokenId, "b" as TokenId];
    headBuffer.apply(deltaWith(unfinalized(5, [a, a])));
    headBuffer.apply(deltaWith(unfinalized(6, [a, b])));
    assert.deepEqual([headBuffer.getCount(a), headBuffer.getCount(b)], [3, 1]);
    headBuffer.finalize(5);
    assert.deepEqual([headBuffer.getCount(a), headBuffer.getCount(b)], [1, 1]);
    headBuffer.revert(5);
    assert.deepEqual([headBuffer.getCount(a), headBuffer.getCount(b)], [0, 0]);
  });

  test("drops the blocks that have become final", () => {
    const headBuffer = getTail(5, 9);
    assert.deepEqual(toNumbers(headBuffer.through(7)), [5, 6, 7]);
    headBuffer.finalize(7);
    assert.deepEqual(toNumbers(headBuffer.blocks), [8, 9]);
    assert.deepEqual(toNumbers(headBuffer.through(7)), []);
  });

  test("returns the rows of its blocks in order", () => {
    const headBuffer = getTail(5, 7);
    assert.deepEqual(
      [headBuffer.fills(), headBuffer.events()].map((rows) => rows.map(({ seq }) => seq)),
      [
        [5, 6, 7],
        [5, 6, 7],
      ],
    );
  });

  test("throws when a block exceeds its bound", () => {
    const headBuffer = getTail(1, storeLimits.headBufferBlocksMax);
    assert.throws(
      () => headBuffer.apply(deltaWith(block(storeLimits.headBufferBlocksMax + 1))),
      /waits long before/,
    );
  });
});
