/** Reading the trades of a day in pages returns each trade once, in the order of the chain. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { toFirstSeq } from "../../src/base/ids.ts";
import { type Fill, isTrade } from "../../src/market/fill.ts";
import { readDayTrades } from "../../src/storage/read-day-trades.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { fillStore, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

type Range = Parameters<typeof readDayTrades>[1];

test("pages of any size return the trades of the range, in order", async (t) => {
  const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 60 });
  const blocks = getFacts(buildChain(plans));
  const { store } = await StoreFolder.open(t);
  await fillStore(store, { final: blocks, unfinalized: [], sizes: [5, 1, 17] });
  const trades = getFills(blocks).filter(isTrade);
  const [middle, last] = [blocks[30], blocks.at(-1)];
  assert(middle !== undefined && last !== undefined);
  const ends = { all: toFirstSeq(last.number + 1), some: toFirstSeq(last.number - 7) };
  const read = async (range: Range): Promise<readonly number[]> => {
    const seqs: number[] = [];
    for await (const page of readDayTrades(store.engine, range))
      for (const { seq } of page) seqs.push(seq);
    return seqs;
  };
  const getSeqs = (isRequested: (trade: Fill) => boolean) =>
    trades.filter(isRequested).map((trade) => trade.seq);
  const from = toFirstSeq(middle.number);
  assert(getSeqs((trade) => trade.seq >= from).length > 10);
  for (const pageBlocks of [1, 10, 1_000_000]) {
    for (const to of Object.values(ends)) {
      const requested = getSeqs((trade) => trade.seq >= from && trade.seq < to);
      assert.deepEqual(await read({ from, to, pageBlocks }), requested);
    }
  }
  assert.deepEqual(await read({ from: ends.all, to: ends.all }), []);
});
