/**
 * What the chain reports, with its meaning worked out and ready to be stored: the part of the walk
 * that needs neither store nor state, and so can run in a thread of its own.
 */
import { assert } from "../base/assert.ts";
import type { Block, BlockInterval, ChainBatch } from "../chain/raw-log.ts";
import type { LogDecoder } from "../contracts/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts } from "../market/block-facts.ts";
import { type EncodedBatch, encodeFacts } from "../storage/codec/encode-facts.ts";

/**
 * In chain order: blocks that can never change, encoded, and whether more such follow immediately; one block that a fork may revert; a
 * fork; and how far blocks have become final.
 */
export type ChainChange =
  | { readonly kind: "range"; readonly batch: EncodedBatch; readonly more: boolean }
  | { readonly kind: "block"; readonly block: BlockFacts }
  | { readonly kind: "revert"; readonly safeBlock: number }
  | { readonly kind: "finalized"; readonly block: number };

/** What is made of final blocks as soon as they are read: their facts, encoded. */
export function encodeFinal(range: BlockInterval, decoder: LogDecoder): EncodedBatch {
  const logs = range.blocks.reduce((sum, block) => sum + block.logs.length, 0);
  return encodeFacts(range, factsOf(range.blocks, decoder), logs);
}

function* factsOf(
  blocks: readonly Block[],
  decoder: LogDecoder,
): Generator<BlockFacts, void, undefined> {
  for (const block of blocks) yield deriveBlockFacts(block, decoder);
}

/** Derives the changes of each batch. */
export async function* deriveChanges(
  batches: AsyncIterable<ChainBatch<EncodedBatch>>,
  decoder: LogDecoder,
): AsyncGenerator<ChainChange, void, undefined> {
  for await (const batch of batches) yield changesOf(batch, decoder);
}

function changesOf(batch: ChainBatch<EncodedBatch>, decoder: LogDecoder): ChainChange {
  if (batch.kind !== "blocks") return batch;
  if (batch.finalized) return { kind: "range", batch: batch.blocks, more: batch.more };
  assert(batch.fromBlock === batch.toBlock, "above finality blocks come one by one");
  const block = batch.blocks[0] ?? { ...batch.last, parentHash: null, logs: [] };
  return { kind: "block", block: deriveBlockFacts(block, decoder) };
}
