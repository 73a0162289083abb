import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { anyChain, type GeneratedBlock } from "../../../test/support/generate-chain.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { naiveCandles } from "../../../test/support/naive-candles.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import { testMarkets, testPairs } from "../../../test/support/test-markets.ts";
import type { TokenId } from "../../base/ids.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { deriveBlockFacts } from "../../market/block-facts.ts";
import type { Candle } from "../../market/candle.ts";
import { toFinalDelta } from "../../market/delta.ts";
import type { Fill } from "../../market/fill.ts";
import { payoutsMicros } from "../../market/market.ts";
import { dayWindowSeconds } from "../day/day-window.ts";
import { MarketState } from "../markets/market-state.ts";
import { pairDayCandle } from "./day-price.ts";
import { newestTrade, pairPrice } from "./token-price.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const tokenIds = [...testPairs.legacy, ...testPairs.generation3].flat();

function getState(chain: readonly GeneratedBlock[]): MarketState {
  const state = new MarketState(contracts, new MemoryStateStore());
  for (const { block } of chain) {
    state.apply(toFinalDelta(deriveBlockFacts(block, decoder)));
  }
  return state;
}

/** The candle of all these trades of the pair, in one bucket and at prices of this token. */
function getCandle(fills: readonly Fill[], tokenId: TokenId, state: MarketState): Candle | null {
  const complement = state.directory.getComplement(tokenId);
  const requested = {
    same: [tokenId],
    inverted: complement === null ? [] : [complement],
    bucketSeconds: Number.MAX_SAFE_INTEGER,
  };
  return naiveCandles(fills, requested).get(0) ?? null;
}

function getFills(chain: readonly GeneratedBlock[]): Fill[] {
  return chain.flatMap((made) => made.fills);
}

describe("the price of a token", () => {
  test("is that of the newest trade of its pair, until the payout replaces it", () => {
    fc.assert(
      fc.property(anyChain({ blocksMin: 1, blocksMax: 15 }), (chain) => {
        const state = getState(chain);
        for (const tokenId of tokenIds) {
          const last = getCandle(getFills(chain), tokenId, state)?.close ?? null;
          assert.equal(newestTrade(tokenId, state.directory)?.trade.seq, last?.seq);
          const slot = state.directory.getSlot(tokenId);
          const resolution = slot && state.directory.getResolution(slot.conditionId);
          const price = pairPrice(tokenId, state.directory);
          if (slot === null || resolution === null) {
            assert.deepEqual(price && { seq: price.seq, price: price.price }, last);
          } else {
            assert.deepEqual(price, {
              price: payoutsMicros(resolution)[slot.outcomeIndex],
              source: "settlement",
              seq: resolution.seq,
            });
          }
        }
      }),
      propertySettings(100),
    );
  });

  test("comes from the same trade or result for both tokens of a pair, and the two add up to 1", () => {
    fc.assert(
      fc.property(anyChain({ blocksMin: 1, blocksMax: 15 }), (chain) => {
        const { directory } = getState(chain);
        for (const tokenId of tokenIds) {
          const complement = directory.getComplement(tokenId);
          if (complement === null) continue;
          const [own, other] = [tokenId, complement].map((id) => pairPrice(id, directory));
          assert.equal(own?.seq, other?.seq);
          if (own && other) assert.equal(own.price + other.price, 1_000_000n);
        }
      }),
      propertySettings(50),
    );
  });

  test("is null for a token without trades", () => {
    const { directory } = getState([]);
    for (const tokenId of testMarkets.standard.tokenIds) {
      assert.equal(pairPrice(tokenId, directory), null);
    }
  });
});

test("the day candle of a pair aggregates all of its trades within 24 hours", () => {
  fc.assert(
    fc.property(anyChain({ blocksMin: 1, blocksMax: 15 }), (chain) => {
      const state = getState(chain);
      const from = state.dayWindow.now - dayWindowSeconds;
      const fills = getFills(chain).filter((fill) => fill.timestamp > from);
      for (const tokenId of tokenIds) {
        assert.deepEqual(pairDayCandle(tokenId, state), getCandle(fills, tokenId, state));
      }
    }),
    propertySettings(100),
  );
});
