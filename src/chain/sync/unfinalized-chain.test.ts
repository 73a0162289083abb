import assert from "node:assert/strict";
import { test } from "node:test";
import { InvariantError } from "../../base/assert.ts";
import type { Hash } from "../../base/ids.ts";
import type { Header } from "../parse/parse-header.ts";
import { UnfinalizedChain } from "./unfinalized-chain.ts";

function header(number: number, fork = "00"): Header {
  const hash = `0x${fork}${number.toString(16).padStart(62, "0")}` as Hash;
  return { number, hash, parentHash: hash, timestamp: number, logsBloom: 0n };
}

test("the chain grows, is reverted, becomes final and restarts", () => {
  const tail = new UnfinalizedChain();
  tail.restart(11, header(10));
  assert.equal(tail.tip?.number, 10);
  for (let number = 11; number <= 15; number += 1) tail.push(header(number));
  assert.equal(tail.hashAt(10), header(10).hash);
  assert.equal(tail.hashAt(15), header(15).hash);
  assert.equal(tail.hashAt(16), null);
  assert.equal(tail.hashAt(9), null);
  tail.revertTo(13);
  tail.push(header(14, "ff"));
  assert.equal(tail.hashAt(14), header(14, "ff").hash);
  tail.finalizeTo(12);
  assert.deepEqual([tail.base?.number, tail.firstNumber, tail.length], [12, 13, 2]);
  assert.equal(tail.hashAt(11), null);
  tail.revertTo(12);
  assert.deepEqual([tail.tip?.number, tail.nextNumber, tail.length], [12, 13, 0]);
  tail.restart(21, header(20));
  assert.deepEqual([tail.tip?.number, tail.nextNumber], [20, 21]);
});

test("R3: the base cannot be reverted, and blocks cannot be added with a gap", () => {
  const tail = new UnfinalizedChain();
  tail.restart(11, header(10));
  tail.push(header(11));
  assert.throws(() => tail.revertTo(9), InvariantError);
  assert.throws(() => tail.push(header(13)), InvariantError);
  assert.throws(() => tail.finalizeTo(12), InvariantError);
});
