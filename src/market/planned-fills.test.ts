/** Fills derived from random valid transactions equal the planned ones. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { buildChain } from "../../test/support/generate-chain.ts";
import { anyTransaction, type TransactionPlan } from "../../test/support/generate-matches.ts";
import { propertySettings } from "../../test/support/property-settings.ts";
import { knownContracts } from "../../test/support/recorded-chain.ts";
import { testPairs } from "../../test/support/test-markets.ts";
import type { TokenId } from "../base/ids.ts";
import { LogDecoder } from "../contracts/log-decoder.ts";
import { deriveBlockFacts } from "./block-facts.ts";
import { type Fill, isTrade } from "./fill.ts";

const decoder = new LogDecoder(knownContracts());
const anyTransactions = fc.array(anyTransaction(testPairs), { minLength: 1, maxLength: 4 });

function toBlock(transactions: readonly TransactionPlan[]) {
  const [made] = buildChain([{ secondsLater: 1, reports: false, transactions }]);
  assert(made !== undefined);
  return { facts: deriveBlockFacts(made.block, decoder), expected: made.fills };
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

describe("the fills of random valid transactions of all generations", () => {
  test("equal the planned ones, leg by leg, without an anomaly", () => {
    fc.assert(
      fc.property(anyTransactions, (transactions) => {
        const { facts, expected } = toBlock(transactions);
        assert.deepEqual(facts.fills, expected);
        assert.deepEqual(facts.anomalies, []);
        assert.deepEqual(facts.quarantined, []);
      }),
      propertySettings(1500),
    );
  });

  test("conserve volume: legs add up to their summary, and both sides of a leg to its shares", () => {
    fc.assert(
      fc.property(anyTransactions, (transactions) => {
        const { fills } = toBlock(transactions).facts;
        const byMatch = Map.groupBy(fills, (fill) => fill.matchSeq);
        byMatch.delete(null);
        for (const rows of byMatch.values()) {
          const [summary, ...more] = rows.filter((fill) => fill.role === "taker");
          const legs = rows.filter(isTrade);
          assert(summary !== undefined && more.length === 0);
          assert.equal(summary.legs, legs.length);
          assert.equal(sum(legs.map((leg) => leg.size)), summary.size);
          assert.equal(sum(legs.map((leg) => leg.value)), summary.value);
          for (const leg of legs) assertHalves(leg);
        }
      }),
      propertySettings(500),
    );
  });

  /** Checks the cash of a leg: maker and taker have the same if it is complementary, else 1 per share together. */
  function assertHalves(leg: Fill): void {
    const makerCash = leg.makerSide === "BUY" ? leg.makerAmount : leg.takerAmount;
    if (leg.matchType === "complementary") assert.equal(leg.value, makerCash);
    else assert.equal(leg.value + makerCash, leg.size);
  }

  test("are the same but for the token when the transactions trade the other token of each pair", () => {
    const flip = new Map(
      [...testPairs.legacy, ...testPairs.generation3].flatMap(([yes, no]) => [
        [yes, no],
        [no, yes],
      ]),
    );
    const other = (token: TokenId): TokenId => flip.get(token) ?? token;
    const inverted = ({ gap, items }: TransactionPlan): TransactionPlan => ({
      gap,
      items: items.map((item) =>
        item.kind === "match"
          ? { ...item, token: item.otherToken, otherToken: item.token }
          : { ...item, token: other(item.token) },
      ),
    });
    fc.assert(
      fc.property(anyTransactions, (transactions) => {
        const reported = toBlock(transactions).facts.fills.map((fill) => ({
          ...fill,
          tokenId: other(fill.tokenId),
          makerTokenId: other(fill.makerTokenId),
        }));
        assert.deepEqual(toBlock(transactions.map(inverted)).facts.fills, reported);
      }),
      propertySettings(300),
    );
  });

  test("include every type of match, refunds, repeated orders, self-trades and negative values", () => {
    const sample = fc.sample(anyTransactions, propertySettings(500));
    const fills = sample.flatMap((transactions) => toBlock(transactions).facts.fills);
    const reached = {
      types: new Set(fills.map((fill) => `${fill.exchange.generation} ${fill.matchType}`)),
      refunds: fills.some((fill) => fill.feeRefund > 0n),
      selfTrades: fills.some((fill) => fill.role === "maker" && fill.maker === fill.taker),
      negative: fills.some((fill) => fill.value < 0n),
      noShares: fills.some((fill) => fill.size === 0n),
      repeated: fills.some((fill, index) =>
        fills
          .slice(index + 1, index + 4)
          .some((next) => next.matchSeq === fill.matchSeq && next.orderHash === fill.orderHash),
      ),
    };
    const types = [1, 2, 3].flatMap((generation) =>
      ["complementary", "mint", "merge", "null"].map((type) => `${generation} ${type}`),
    );
    assert.deepEqual(reached, {
      types: new Set([...types, "1 direct"]),
      refunds: true,
      selfTrades: true,
      negative: true,
      noShares: true,
      repeated: true,
    });
  });
});
