/**
 * The ledger in the store: chains of any operations, in any cut of ranges, with reorgs, crashes in the middle of an
 * append and repairs of any range. After every step, all that is served of wallets equals the books of the model.
 *
 * `LEDGER_STORE_RUNS` sets the number of chains. With 1, `TEST_SEED=<seed>` repeats one.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toFirstSeq, toLastSeq } from "../../src/base/ids.ts";
import { type BlockFacts, deriveBlockFacts } from "../../src/market/block-facts.ts";
import { toUnfinalizedDelta } from "../../src/market/delta.ts";
import { finishRepair, orderRepair } from "../../src/storage/recovery/repair.ts";
import { dropMarketsFile } from "../../src/views/disk/markets-file.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { appendFacts, finalizeFacts } from "../support/append-facts.ts";
import { appendPart, tables } from "../support/append-part.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { MortalEngine } from "../support/mortal-engine.ts";
import { isOnServer, serverOnly } from "../support/open-facts.ts";
import { testSeed } from "../support/property-settings.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { encode } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { assertBooks, assertSupplies } from "./ledger/assert-books.ts";
import { LedgerChain, type ModelBlock } from "./ledger/ledger-chain.ts";
import { contracts, decoder } from "./simulation.ts";

const runs = Number(process.env["LEDGER_STORE_RUNS"] ?? 1);
const stepsPerRun = 10;
/** Rows of several shards are not repaired in place. */
const canRepair = !isOnServer || serverOnly === false;
/** Does not wait for readers of a server, of which there are none. */
const noClock = { sleep: async () => {} };

/** A store that follows a chain of the model. */
class Follower {
  readonly random: SeededRandom;
  readonly #folder: StoreFolder;
  readonly #chain: LedgerChain;
  state = new MarketState(contracts, new MemoryStateStore());
  #facts: readonly BlockFacts[] = [];

  constructor(seed: number, folder: StoreFolder) {
    this.random = new SeededRandom(seed);
    this.#chain = new LedgerChain(seed);
    this.#folder = folder;
    folder.store.addView(this.state);
  }

  get #finalBlock(): number {
    return this.#folder.store.coverage?.last.number ?? -1;
  }

  get #final(): readonly BlockFacts[] {
    return this.#facts.filter(({ number }) => number <= this.#finalBlock);
  }

  readonly steps = {
    /** Final blocks in one append, or unfinalized ones if there are others. */
    append: () => this.#add(this.#folder.store.headBuffer.newest === null),
    hold: () => this.#add(false),
    finalize: async () => {
      const newest = this.#folder.store.newestBlock ?? -1;
      await finalizeFacts(this.#folder.store, newest - this.random.integer(0, 4));
    },
    revert: async () => {
      const { store } = this.#folder;
      const safe = Math.max(
        this.#finalBlock,
        (store.newestBlock ?? -1) - this.random.integer(0, 6),
      );
      if (safe === -1) return;
      store.revert(safe);
      this.#chain.revertTo(safe);
      this.#facts = this.#facts.filter(({ number }) => number <= safe);
    },
    /** Crashes in the middle of an append, and restarts. The same append then succeeds. */
    crash: async () => {
      const { store } = this.#folder;
      const held = store.headBuffer.blocks;
      const lost = held.slice(0, this.random.integer(0, held.length));
      if (lost.length > 0) {
        await appendPart(store, encode(lost), tables.slice(0, this.random.integer(0, 8)));
      }
      await this.#restart();
      await finalizeFacts(this.#folder.store, lost.at(-1)?.number ?? -1);
    },
    /** Rows of some blocks are wrong, and repaired by processes of which the first ones are killed. */
    repair: async () => {
      const final = this.#final;
      const from = this.random.integer(0, final.length - 1);
      const range = final.slice(from, from + this.random.integer(1, final.length));
      const [first = 0, last = 0] = [range[0]?.number, range.at(-1)?.number];
      const wrong = `seq BETWEEN ${toFirstSeq(first)} AND ${toLastSeq(last)} AND seq % 3 = 0`;
      for (const table of ["ledger", "balance_changes"])
        await this.#folder.store.engine.command(
          `ALTER TABLE ${table} UPDATE shares = shares + 1 WHERE ${wrong} SETTINGS mutations_sync = 2`,
        );
      for (const writes of [this.random.integer(0, 60), this.random.integer(0, 60), Infinity]) {
        const engine = new MortalEngine(this.#folder.store.engine, writes);
        try {
          await orderRepair(engine, encode(range));
          await finishRepair(engine, () => dropMarketsFile(this.#folder.path), noClock);
        } catch (thrown) {
          assert.equal((thrown as Error).message, "killed");
        }
        await this.#restart();
      }
    },
  } as const;

  async assertHolds(): Promise<void> {
    const { store } = this.#folder;
    await assertBooks({ facts: store, state: this.state }, this.#chain.blocks);
    assertSupplies(this.state, this.#facts);
  }

  async assertStored(): Promise<void> {
    await assertTablesHold(this.#folder.store, this.#final);
  }

  async #add(isFinal: boolean): Promise<void> {
    const { store } = this.#folder;
    const more = this.#chain.grow(this.random.integer(1, 12)).map(toFacts);
    this.#facts = [...this.#facts, ...more];
    if (isFinal) await appendFacts(store, encode(more));
    else for (const block of more) store.apply(toUnfinalizedDelta(block));
  }

  /** Loads everything from the store, and gets the unfinalized blocks again. */
  async #restart(): Promise<void> {
    const store = await this.#folder.reopen();
    this.state = new MarketState(contracts, new MemoryStateStore());
    await store.loadView(this.state);
    store.addView(this.state);
    for (const block of this.#facts) {
      if (block.number > this.#finalBlock) store.apply(toUnfinalizedDelta(block));
    }
  }
}

function toFacts({ block }: ModelBlock): BlockFacts {
  return deriveBlockFacts(block, decoder);
}

describe("R9, R10, R16: the ledger in the store equals the books after every step", () => {
  for (const seed of Array.from({ length: runs }, (_, run) => testSeed + run)) {
    test(`seed ${seed}`, async (t) => {
      const follower = new Follower(seed, await StoreFolder.open(t));
      const { steps, random } = follower;
      const { repair: _, ...cheap } = steps;
      const names = Object.keys(cheap) as (keyof typeof steps)[];
      // A repair takes longer than all other steps.
      const taken = [
        "append" as keyof typeof steps,
        ...Array.from({ length: stepsPerRun }, () => random.pick(names)),
      ].toSpliced(random.integer(1, stepsPerRun), 0, canRepair ? "repair" : "crash");
      t.diagnostic(taken.join(", "));
      for (const [index, name] of taken.entries()) {
        await steps[name]();
        await follower.assertHolds().catch((cause: unknown) => {
          throw new Error(`after step ${index}, ${name}`, { cause });
        });
      }
      await follower.assertStored();
    });
  }
});
