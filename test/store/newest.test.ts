/** What is kept of the newest trades and candles, against what the blocks that are left hold. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { TokenId } from "../../src/base/ids.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { isTrade } from "../../src/market/fill.ts";
import { readCandles } from "../../src/query/read-candles.ts";
import { readFills } from "../../src/query/read-fills.ts";
import type { FactStore } from "../../src/storage/fact-store.ts";
import { anyBlockPlan, type BlockPlan, buildChain } from "../support/generate-chain.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { propertySettings } from "../support/property-settings.ts";
import { encode, factsOf, fillsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { testPairs } from "../support/test-markets.ts";

const [[yes, no]] = testPairs.legacy as [[TokenId, TokenId]];
const roles = ["maker", "direct"] as const;
const limits = [1, 3, 20];

type Step =
  | { readonly kind: "hold" | "append"; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "finalize" | "revert"; readonly depth: number };

const anyPlans = fc.array(anyBlockPlan(4), { minLength: 1, maxLength: 4 });
const anyStep = fc.oneof(
  fc.record({ kind: fc.constantFrom("hold" as const, "append" as const), plans: anyPlans }),
  fc.record({ kind: fc.constantFrom("finalize" as const, "revert" as const), depth: fc.nat(4) }),
) as fc.Arbitrary<Step>;

/** Takes one step; returns the facts of the chain that is left. */
async function take(
  store: FactStore,
  facts: readonly BlockFacts[],
  { step, salt }: { step: Step; salt: string },
): Promise<readonly BlockFacts[]> {
  const final = store.coverage?.last.number ?? -1;
  switch (step.kind) {
    case "hold":
    case "append": {
      // Nothing is appended below blocks that are held.
      const isUnfinalized = step.kind === "hold" || store.headBuffer.newest !== null;
      const more = goOn(facts, step.plans, salt);
      if (isUnfinalized) for (const block of more) store.headBuffer.push(block);
      else await store.append(encode(more));
      return [...facts, ...more];
    }
    case "finalize": {
      await store.finalize((store.newestBlock ?? -1) - step.depth);
      return facts;
    }
    case "revert": {
      const safe = Math.max(final, (store.newestBlock ?? -1) - step.depth);
      store.headBuffer.revertTo(safe);
      return facts.filter(({ number }) => number <= safe);
    }
  }
}

function goOn(
  facts: readonly BlockFacts[],
  plans: readonly BlockPlan[],
  salt: string,
): BlockFacts[] {
  const newest = facts.at(-1);
  if (newest === undefined) return factsOf(buildChain(plans, { salt }));
  const { number, hash, timestamp } = newest;
  return factsOf(
    buildChain(plans, { salt, after: { number, hash, parentHash: hash, timestamp, logs: [] } }),
  );
}

async function assertKept(store: FactStore, facts: readonly BlockFacts[]): Promise<void> {
  const trades = fillsOf(facts).filter(isTrade).toReversed();
  for (const tokenIds of [undefined, [yes], [yes, no]]) {
    const own = trades.filter(({ tokenId }) => tokenIds?.includes(tokenId) ?? true);
    for (const limit of limits) {
      const filter = { roles, ...(tokenIds === undefined ? {} : { tokenIds }) };
      const page = { filter, order: "desc", after: null, limit, finalizedOnly: false } as const;
      assert.deepEqual(await readFills(store, page), own.slice(0, limit));
    }
  }
  for (const bucketSeconds of [60, 3600]) {
    const naive = [...naiveCandles(fillsOf(facts), { tokenId: yes, complement: no, bucketSeconds })]
      .map(([bucket, candle]) => ({ bucket, candle }))
      .toSorted((a, b) => b.bucket - a.bucket);
    const all = { tokenId: yes, complement: no, bucketSeconds, from: 0 };
    for (const limit of limits) {
      const range = { ...all, to: Number.MAX_SAFE_INTEGER, order: "desc", limit } as const;
      assert.deepEqual(await readCandles(store, range), naive.slice(0, limit));
    }
  }
}

test("newest trades and candles are those of the chain that is left, after any steps", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 9 }), async (steps) => {
      const folder = await StoreFolder.open(t);
      const { store } = folder;
      try {
        let facts: readonly BlockFacts[] = [];
        for (const [index, step] of steps.entries()) {
          facts = await take(store, facts, { step, salt: `${index}` });
          await assertKept(store, facts);
        }
      } finally {
        await folder.close();
      }
    }),
    propertySettings(10),
  );
});
