/** Decodes and encodes the batches of the chain source: the part of the walk that needs neither store nor state. */
import { chainLimits } from "../base/config/limits.ts";
import { toBlockNumber } from "../base/ids.ts";
import { mapInOrder } from "../base/time/map-in-order.ts";
import type { Block, BlockInterval, ChainBatch, Coverage } from "../chain/raw-log.ts";
import type { LogDecoder } from "../contracts/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts } from "../market/block-facts.ts";
import { type EncodedBatch, encodeFacts } from "../storage/codec/encode-facts.ts";

/** One change of the chain; changes come in chain order. `more`: further final blocks follow immediately. */
export type ChainChange =
  | { readonly kind: "range"; readonly batch: EncodedBatch; readonly more: boolean }
  | { readonly kind: "block"; readonly block: BlockFacts }
  | { readonly kind: "revert"; readonly safeBlock: number }
  | { readonly kind: "finalized"; readonly block: number };

/**
 * The input of the pipeline: a change of the chain, or a range that another process has committed. Of a committed
 * range, the pipeline reads from the store what this process does not have yet.
 */
export type Change = ChainChange | { readonly kind: "committed"; readonly range: Coverage };

/** How logs are decoded, and how blocks whose logs contradict each other are checked. */
export type Derivation = {
  readonly decoder: LogDecoder;
  /** Reads the block again from its receipts, with all of its logs (`ChainSource.prove`). */
  readonly prove: (block: Block, isFinal: boolean) => Promise<Block>;
};

/**
 * Derives and encodes the facts of final blocks. A block with a match that does not reconcile is first read again
 * from its receipts: its logs may lack a leg or a summary.
 */
export async function encodeFinal(
  range: BlockInterval,
  derivation: Derivation,
): Promise<EncodedBatch> {
  const { decoder, prove } = derivation;
  const batch = encodeBlocks(range, decoder);
  const suspects = new Set(batch.tally.anomalies.map(({ seq }) => toBlockNumber(seq)));
  if (suspects.size === 0) return batch;
  const suspected = range.blocks.filter(({ number }) => suspects.has(number));
  const proofs = mapInOrder(suspected, (block) => prove(block, true), chainLimits.proofsAtOnceMax);
  const proven = new Map<number, Block>();
  for await (const block of proofs) proven.set(block.number, block);
  const blocks = range.blocks.map((block) => proven.get(block.number) ?? block);
  return encodeBlocks({ ...range, blocks }, decoder);
}

function encodeBlocks(range: BlockInterval, decoder: LogDecoder): EncodedBatch {
  const logs = range.blocks.reduce((sum, block) => sum + block.logs.length, 0);
  const facts = range.blocks.values().map((block) => deriveBlockFacts(block, decoder));
  return encodeFacts(range, facts, logs);
}

/** Derives the change of each batch until the source is closed. Receipts are read for unfinalized blocks too. */
export async function* deriveChanges(
  batches: AsyncIterable<ChainBatch<EncodedBatch>>,
  derivation: Derivation,
): AsyncGenerator<ChainChange, void, undefined> {
  try {
    for await (const batch of batches) yield await getChange(batch, derivation);
  } catch (thrown) {
    // Closing the source aborts a wait for receipts.
    if (!(thrown instanceof Error && thrown.name === "AbortError")) throw thrown;
  }
}

async function getChange(
  batch: ChainBatch<EncodedBatch>,
  { decoder, prove }: Derivation,
): Promise<ChainChange> {
  if (batch.kind === "range") return { kind: "range", batch: batch.blocks, more: batch.more };
  if (batch.kind !== "block") return batch;
  const block = deriveBlockFacts(batch.block, decoder);
  if (block.anomalies.length === 0) return { kind: "block", block };
  return { kind: "block", block: deriveBlockFacts(await prove(batch.block, false), decoder) };
}
