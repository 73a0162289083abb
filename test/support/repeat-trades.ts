import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Hash, toSeq } from "../../src/base/ids.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts, emptyBlock } from "../../src/market/block-facts.ts";
import { knownContracts, readRecordedBlocks } from "./recorded-chain.ts";

/** Blocks of a recorded trade, again and again. */
export function repeatTrades(count: {
  readonly blocks: number;
  readonly trades: number;
}): BlockFacts[] {
  const decoder = new LogDecoder(knownContracts());
  const recorded = readRecordedBlocks("contracts-gen2").map((one) =>
    deriveBlockFacts(one, decoder),
  );
  const fill = recorded.flatMap(({ fills }) => fills).find(({ role }) => role !== "taker");
  assert(fill !== undefined);
  return Array.from({ length: count.blocks }, (_, number) => {
    const place = { hash: toHash(`block ${number}`), timestamp: fill.timestamp + 2 * number };
    const fills = Array.from({ length: count.trades }, (__, index) => ({
      ...fill,
      seq: toSeq(number, index),
      timestamp: place.timestamp,
      blockHash: place.hash,
      txHash: toHash(`transaction ${number} ${index}`),
    }));
    return { ...emptyBlock, number, ...place, fills };
  });
}

export function toHash(text: string): Hash {
  return `0x${createHash("sha256").update(text).digest("hex")}` as Hash;
}
