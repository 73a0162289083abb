/** Random chains of blocks, with every kind of log that a block can contain. */
import * as fc from "fast-check";
import type { Hash } from "../../src/base/ids.ts";
import type { Block } from "../../src/chain/raw-log.ts";
import type { Fill } from "../../src/market/fill.ts";
import { anyTransaction, BlockWriter, type TransactionPlan } from "./generate-matches.ts";
import { type LogContent, marketLogs, otherLogs, testPairs } from "./test-markets.ts";

/** A block without a position on a chain. */
export type BlockPlan = {
  readonly secondsLater: number;
  /** Whether the block contains the market logs that are due at its height. */
  readonly reports: boolean;
  readonly transactions: readonly (TransactionPlan | LogContent)[];
};

/** A block and the fills that must be derived from it. */
export type GeneratedBlock = { readonly block: Block; readonly fills: readonly Fill[] };

const anyTrade = anyTransaction(testPairs);
const marketLogsPerBlock = 2;
/** The block below the first of every chain. */
export const numberBeforeChains = 99;
/** Not at the start of a minute, hour or day. */
const genesis = { number: numberBeforeChains, timestamp: 1_699_999_987 } as const;

/** Seconds between two blocks: mostly few, occasionally hours or more than a day. */
const anyPause = fc.oneof(
  { weight: 20, arbitrary: fc.nat(30) },
  { weight: 4, arbitrary: fc.integer({ min: 30, max: 400 }) },
  { weight: 1, arbitrary: fc.integer({ min: 3000, max: 100_000 }) },
);

/** A block of up to `transactionsMax` transactions, most of them trades. */
export function anyBlockPlan(transactionsMax = 3): fc.Arbitrary<BlockPlan> {
  const anyOther = fc.constantFrom(...otherLogs);
  return fc.record({
    secondsLater: anyPause,
    reports: fc.boolean(),
    transactions: fc.array(
      fc.oneof({ weight: 4, arbitrary: anyTrade }, { weight: 1, arbitrary: anyOther }),
      { maxLength: transactionsMax },
    ),
  });
}

/**
 * Builds the blocks of these plans, linked to `after` or starting a chain. `salt` gives competing chains different
 * hashes. `order` is the order of the market logs, each at a fixed height, so that no chain contains one twice.
 */
export function buildChain(
  plans: readonly BlockPlan[],
  options: {
    readonly after?: Block | undefined;
    readonly salt?: string;
    readonly order?: readonly LogContent[];
  } = {},
): GeneratedBlock[] {
  const { salt = "", order = marketLogs } = options;
  let parent: Pick<Block, "number" | "timestamp"> & { hash: Hash | null } = options.after ?? {
    ...genesis,
    hash: null,
  };
  return plans.map((plan) => {
    const number = parent.number + 1;
    const writer = new BlockWriter({
      number,
      hash: getHash(`${salt}${number}`),
      parentHash: parent.hash,
      timestamp: parent.timestamp + plan.secondsLater,
    });
    const due = (number - genesis.number - 1) * marketLogsPerBlock;
    const reported = plan.reports ? order.slice(due, due + marketLogsPerBlock) : [];
    for (const log of reported) writer.addLog(log);
    for (const transaction of plan.transactions) {
      if ("items" in transaction) writer.addTransaction(transaction);
      else writer.addLog(transaction);
    }
    parent = writer.block;
    return { block: writer.block, fills: writer.fills };
  });
}

/** Market logs in a random order: texts, registrations and results can precede any other log. */
export const anyOrder: fc.Arbitrary<readonly LogContent[]> = fc.shuffledSubarray([...marketLogs], {
  minLength: marketLogs.length,
});

/** A chain from its first block. */
export function anyChain(size: {
  readonly blocksMin: number;
  readonly blocksMax: number;
}): fc.Arbitrary<readonly GeneratedBlock[]> {
  const plans = fc.array(anyBlockPlan(), { minLength: size.blocksMin, maxLength: size.blocksMax });
  return fc.tuple(plans, anyOrder).map(([plans, order]) => buildChain(plans, { order }));
}

/** A block hash. The last 8 digits distinguish the transactions of the block. */
function getHash(text: string): Hash {
  return `0x${Buffer.from(text).toString("hex").padStart(56, "0")}`.padEnd(66, "0") as Hash;
}
