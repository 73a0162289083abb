import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { anyTransaction, BlockWriter } from "../../../test/support/generate-matches.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import { testPairs } from "../../../test/support/test-markets.ts";
import { zeroHash } from "../../base/ids.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { deriveBlockFacts } from "../../market/block-facts.ts";
import { toTrades } from "../../market/fill.ts";
import { getGenerations } from "../../market/market.ts";
import { toMinute } from "../../market/minute-candle.ts";
import { MarketDirectory } from "./market-directory.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const anyTrades = fc.array(anyTransaction(testPairs), { maxLength: 3 }).map((transactions) => {
  const writer = new BlockWriter({
    number: 999,
    hash: zeroHash,
    parentHash: null,
    timestamp: 1_700_009_999,
  });
  for (const transaction of transactions) writer.addTransaction(transaction);
  return deriveBlockFacts(writer.block, decoder);
});

describe("totals of a token", () => {
  test("are the sums of its trades, in any order of the ranges", () => {
    fc.assert(
      fc.property(anyTrades, fc.nat(), (trades, choice) => {
        const applied = toTrades(trades.fills);
        const middle = choice % (applied.length + 1);
        const directory = new MarketDirectory(contracts, new MemoryStateStore(), () => {});
        directory.applyTrades(applied.slice(middle));
        directory.applyTrades(applied.slice(0, middle));
        for (const tokenId of testPairs.legacy.flat()) {
          const own = trades.fills.filter(
            (fill) => fill.role !== "taker" && fill.tokenId === tokenId,
          );
          const totals = directory.getTotals(tokenId);
          assert.equal(totals.trades, own.length);
          assert.equal(
            totals.volumeUsd,
            own.reduce((sum, fill) => sum + fill.value, 0n),
          );
          assert.equal(
            totals.volumeShares,
            own.reduce((sum, fill) => sum + fill.size, 0n),
          );
          const priced = own.filter((fill) => fill.size > 0n);
          assert.equal(totals.lastTrade?.seq, priced.at(-1)?.seq);
          assert.equal(totals.lastTrade?.txHash, priced.at(-1)?.txHash);
          const [first] = priced;
          assert.equal(totals.firstMinute, first === undefined ? null : toMinute(first.timestamp));
          assert.equal(totals.firstTimestamp, own[0]?.timestamp ?? 0);
          assert.equal(totals.lastTimestamp, own.at(-1)?.timestamp ?? 0);
          const versions = new Set(own.map((fill) => fill.exchange.generation));
          assert.deepEqual(
            getGenerations(totals.generations),
            [...versions].toSorted((a, b) => a - b),
          );
        }
      }),
      propertySettings(100),
    );
  });
});
