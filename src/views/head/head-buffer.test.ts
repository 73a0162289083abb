import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { InvariantError } from "../../base/assert.ts";
import { storeLimits } from "../../base/config/limits.ts";
import type { TokenId } from "../../base/ids.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import { Tail } from "./head-buffer.ts";

function block(number: number): BlockFacts {
  return { number, fills: [{ seq: number }], events: [{ seq: number }] } as unknown as BlockFacts;
}

function tailOf(from: number, to: number): Tail {
  const tail = new Tail();
  for (let number = from; number <= to; number += 1) tail.push(block(number));
  return tail;
}

function numbersOf(blocks: readonly BlockFacts[]): number[] {
  return blocks.map(({ number }) => number);
}

describe("the tail", () => {
  test("grows by one block at a time", () => {
    const tail = tailOf(5, 6);
    assert.deepEqual([numbersOf(tail.blocks), tail.newest?.number], [[5, 6], 6]);
    for (const number of [5, 6, 8]) assert.throws(() => tail.push(block(number)), InvariantError);
    assert.equal(new Tail().newest, null);
  });

  test("gives up what a fork takes back, oldest first", () => {
    const tail = tailOf(5, 9);
    assert.deepEqual(numbersOf(tail.unwindTo(7)), [8, 9]);
    assert.deepEqual(numbersOf(tail.unwindTo(7)), []);
    tail.push(block(8));
    assert.deepEqual(numbersOf(tail.unwindTo(0)), [5, 6, 7, 8]);
    assert.equal(tail.newest, null);
  });

  test("counts the fills of a token that it holds now", () => {
    const tail = new Tail();
    const held = (number: number, tokenIds: readonly string[]): BlockFacts => {
      const fills = tokenIds.map((tokenId) => ({ seq: number, tokenId }));
      return { number, fills, events: [] } as unknown as BlockFacts;
    };
    const [a, b] = ["a" as TokenId, "b" as TokenId];
    tail.push(held(5, [a, a]));
    tail.push(held(6, [a, b]));
    assert.deepEqual([tail.countOf(a), tail.countOf(b)], [3, 1]);
    tail.dropThrough(5);
    assert.deepEqual([tail.countOf(a), tail.countOf(b)], [1, 1]);
    tail.unwindTo(5);
    assert.deepEqual([tail.countOf(a), tail.countOf(b)], [0, 0]);
  });

  test("gives up what has become final", () => {
    const tail = tailOf(5, 9);
    assert.deepEqual(numbersOf(tail.through(7)), [5, 6, 7]);
    tail.dropThrough(7);
    assert.deepEqual(numbersOf(tail.blocks), [8, 9]);
    assert.deepEqual(numbersOf(tail.through(7)), []);
  });

  test("holds the rows of its blocks in order", () => {
    const tail = tailOf(5, 7);
    assert.deepEqual(
      [tail.fills(), tail.events()].map((rows) => rows.map(({ seq }) => seq)),
      [
        [5, 6, 7],
        [5, 6, 7],
      ],
    );
  });

  test("has a bound", () => {
    const tail = tailOf(1, storeLimits.tailBlocksMax);
    assert.throws(() => tail.push(block(storeLimits.tailBlocksMax + 1)), /waits long before/);
  });
});
