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
  readonly txHash: Hash;
  readonly txIndex: number;
  readonly logIndex: number;
};

/** What links blocks into a chain. */
export type BlockRef = { readonly number: number; readonly hash: Hash };

/** The same with the time of the block, in unix seconds, from its header; never interpolated. */
export type TimedBlock = BlockRef & { readonly timestamp: number };

/** These alone, of whatever else is known of a block. */
export function timedBlockOf({ number, hash, timestamp }: TimedBlock): TimedBlock {
  return { number, hash, timestamp };
}

/** Both ends included. */
export type BlockRange = Range<number>;

/** A block with those of its logs that were asked for, in rising order of `logIndex`. */
export type Block = TimedBlock & {
  readonly parentHash: Hash | null;
  readonly logs: readonly RawLog[];
};

/** A range of blocks, both ends included, and those of them that have logs. */
export type BlockInterval<Blocks = readonly Block[]> = {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Hash and time of `toBlock`, also when it has no logs. */
  readonly last: TimedBlock;
  readonly blocks: Blocks;
};

/**
 * What a chain source emits, in order. Backfill and live are the same loop:
 * - `range`: the next final blocks, as `Final`, which may be what the consumer makes of them; `more`, that those behind
 *   are known to be final too, and will follow immediately.
 * - `block`: the next block above finality, also without logs.
 * - `revert`: everything above `safeBlock` is reverted.
 * - `finalized`: every block up to and including `block` can never change.
 */
export type ChainBatch<Final = readonly Block[]> =
  | (BlockInterval<Final> & { readonly kind: "range"; readonly more: boolean })
  | { readonly kind: "block"; readonly block: Block }
  | { readonly kind: "revert"; readonly safeBlock: number }
  | { readonly kind: "finalized"; readonly block: number };
