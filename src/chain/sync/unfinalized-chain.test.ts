import assert from "node:assert/strict";
import { test } from "node:test";
import { InvariantError } from "../../base/assert.ts";
import type { Hash } from "../../base/ids.ts";
import type { Header } from "../parse/parse-header.ts";
import { deriveView } from "./head-watch.ts";
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

test("R2: the finalized tag is trusted up to 256 blocks behind the head, and never above it", () => {
  const head = header(1_000);
  const derive = (tag: Header | null) => deriveView({ head, tag, before: null });
  assert.deepEqual(derive(header(744)).final, { number: 744, hash: header(744).hash });
  assert.equal(derive(header(744)).warning, null);
  assert.deepEqual(derive(header(743)).final, { number: 744, hash: null });
  assert.equal(derive(header(743)).warning, "finalized_lagging");
  assert.deepEqual(derive(null).final, { number: 744, hash: null });
  assert.equal(derive(null).warning, "finalized_missing");
  assert.deepEqual(derive(header(1_001)).final, { number: 1_000, hash: null });
});

test("R2: a young chain without the tag has no final block; block 0 is final when the tag is there", () => {
  assert.equal(deriveView({ head: header(255), tag: null, before: null }).final, null);
  const young = deriveView({ head: header(9), tag: header(0), before: null });
  assert.deepEqual([young.final?.number, young.warning], [0, null]);
});

test("R2: a tag that moves back raises a warning until it returns to its earlier block", () => {
  const at = (number: number, before: ReturnType<typeof deriveView> | null) =>
    deriveView({ head: header(1_000), tag: header(number), before });
  const first = at(900, null);
  const back = at(880, first);
  assert.equal(back.warning, "finalized_went_back");
  assert.equal(at(890, back).warning, "finalized_went_back");
  assert.equal(at(900, back).warning, null);
});
