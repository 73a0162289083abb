import type { Address, Hash } from "../base/ids.ts";
import type { Range } from "../base/range.ts";

/** A log as a node sends it, checked for shape only; `contracts/` decodes it. */
export type RawLog = {
  readonly address: Address;
  /** 0 to 4 topics of 32 bytes. */
  readonly topics: readonly Hash[];
  /** `0x` and an even number of lower-case hex digits. */
  readonly data: string;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  /** The time of the block in Unix seconds, if the node sends it with the log. To be checked before it is used. */
  readonly timestamp?: number | null;
  readonly txHash: Hash;
  readonly txIndex: number;
  readonly logIndex: number;
};

/** A block by its number and hash. */
export type BlockRef = { readonly number: number; readonly hash: Hash };

/** A block with the time of its header, in Unix seconds. The time is never interpolated. */
export type TimedBlock = BlockRef & { readonly timestamp: number };

/** Returns a copy of a block with only these fields. */
export function toTimedBlock({ number, hash, timestamp }: TimedBlock): TimedBlock {
  return { number, hash, timestamp };
}

/** A range of block numbers, both ends included. */
export type BlockRange = Range<number>;

/** A block with its requested logs, in ascending order of `logIndex`. */
export type Block = TimedBlock & {
  readonly parentHash: Hash | null;
  readonly logs: readonly RawLog[];
};

/** Every block from `fromBlock` through `last`. A `BlockRange` has no hash and time of its last block. */
export type Coverage = { readonly fromBlock: number; readonly last: TimedBlock };

/** The blocks of a range of final blocks that have logs. */
export type BlockInterval<Blocks = readonly Block[]> = Coverage & { readonly blocks: Blocks };

/**
 * A change that a chain source emits, in order, during backfill and at the head alike:
 * - `range`: the next final blocks, in the form `Final` of the consumer. `more`: later blocks are known to be final too
 *   and follow immediately.
 * - `block`: the next block above finality, even without logs.
 * - `revert`: everything above `safeBlock` is reverted.
 * - `finalized`: every block up to and including `block` can never change.
 */
export type ChainBatch<Final = readonly Block[]> =
  | (BlockInterval<Final> & { readonly kind: "range"; readonly more: boolean })
  | { readonly kind: "block"; readonly block: Block }
  | { readonly kind: "revert"; readonly safeBlock: number }
  | { readonly kind: "finalized"; readonly block: number };
