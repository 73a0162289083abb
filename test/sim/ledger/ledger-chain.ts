/** A chain of the model: blocks of random operations, and its books after each of them. */
import type { Hash } from "../../../src/base/ids.ts";
import type { Block, RawLog } from "../../../src/chain/raw-log.ts";
import type { MakeBlocks } from "../../support/live-chain.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { startBlock } from "../simulation.ts";
import { prepareCondition, prepareQuestion } from "./contracts/legacy-contracts.ts";
import { loneOperations, operations } from "./ledger-operations.ts";
import * as markets from "./model-markets.ts";
import type { ModelRow } from "./model-row.ts";
import { type ModelState, ModelTransaction, newState } from "./model-transaction.ts";
import { wallets } from "./turn.ts";

/** A block, what wallets did in it, and the books after it. */
export type ModelBlock = {
  readonly block: Block;
  readonly rows: readonly ModelRow[];
  readonly state: ModelState;
};

const weighted = operations.flatMap(([weight, operation]) =>
  Array.from({ length: weight }, () => operation),
);

export class LedgerChain {
  readonly #random: SeededRandom;
  readonly #blocks: ModelBlock[] = [];
  #forks = 0;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  get blocks(): readonly ModelBlock[] {
    return this.#blocks;
  }

  /** Adds blocks and returns them. */
  grow(count: number): readonly ModelBlock[] {
    const made = Array.from({ length: count }, () => this.#grow());
    return made;
  }

  /** Drops the blocks above a number. Those that follow are others. */
  revertTo(number: number): void {
    this.#forks += 1;
    while ((this.#blocks.at(-1)?.block.number ?? 0) > number) this.#blocks.pop();
  }

  /** Makes the blocks of a live chain. */
  readonly make: MakeBlocks = (kept, count) => {
    this.revertTo(kept.at(-1)?.block.number ?? 0);
    return this.grow(count);
  };

  #grow(): ModelBlock {
    const random = this.#random;
    const parent = this.#blocks.at(-1);
    const state = structuredClone(parent?.state ?? newState());
    const transactions: ModelTransaction[] = [];
    if (parent === undefined) transactions.push(prepareMost(state));
    for (let count = random.integer(0, 4); count > 0; count -= 1) {
      const tx = new ModelTransaction(state);
      if (random.chance(0.1))
        random.pick(loneOperations)({ tx, random, wallet: random.pick(wallets) });
      else {
        // Several wallets can act in one transaction.
        for (let steps = random.pick([1, 1, 2, 4]); steps > 0; steps -= 1) {
          random.pick(weighted)({ tx, random, wallet: random.pick(wallets) });
        }
      }
      if (tx.logs.length > 0) transactions.push(tx);
    }
    const number = (parent?.block.number ?? startBlock - 1) + 1;
    const block = {
      number,
      hash: toHash(this.#forks, number, 0),
      parentHash: parent?.block.hash ?? toHash(0, number - 1, 0),
      timestamp: (parent?.block.timestamp ?? 1_700_000_000) + random.pick([2, 2, 40, 5_000]),
      logs: [] as readonly RawLog[],
    };
    const logs = transactions.flatMap(({ logs }, txIndex) =>
      logs.map((log) => ({ ...log, txIndex })),
    );
    const made: ModelBlock = {
      block: {
        ...block,
        logs: logs.map(({ txIndex, ...log }, logIndex) => ({
          ...log,
          blockNumber: number,
          blockHash: block.hash,
          txHash: toHash(this.#forks, number, txIndex + 1),
          txIndex,
          logIndex,
        })),
      },
      rows: transactions.flatMap(({ rows }) => rows),
      state,
    };
    this.#blocks.push(made);
    return made;
  }
}

/** Some conditions are prepared at the beginning, the others later or never. */
function prepareMost(state: ModelState): ModelTransaction {
  const tx = new ModelTransaction(state);
  const first = [...markets.standard.slice(0, 2), markets.threeOutcomes];
  for (const condition of first) prepareCondition(tx, condition);
  for (const event of markets.events) {
    prepareQuestion(tx, event);
    prepareQuestion(tx, event);
  }
  return tx;
}

function toHash(fork: number, block: number, transaction: number): Hash {
  const digits = [fork, block, transaction].map((part) => part.toString(16).padStart(8, "0"));
  return `0x${digits.join("").padStart(64, "1")}` as Hash;
}
