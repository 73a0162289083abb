/** Folds the worked examples of docs/wallets.md. Amounts are in dollars and shares. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type TokenId, toSeq, toTokenId } from "../../base/ids.ts";
import { type LedgerKind, subsPerCause } from "./ledger-row.ts";
import { type FoldRow, PositionFold } from "./position.ts";

const [yes, no, thirdYes, fourthYes] = [1n, 2n, 3n, 4n].map(toTokenId) as [
  TokenId,
  TokenId,
  TokenId,
  TokenId,
];
const micros = (amount: number): bigint => BigInt(Math.round(amount * 1e6));

type Change = readonly [kind: LedgerKind, ...tokens: (readonly [TokenId, shares: number])[]];

/** Folds causes, one in each block, with their cash and fee; `payouts` settle tokens after the causes of `until`. */
function fold(
  causes: readonly { readonly of: Change; readonly cash?: number; readonly fee?: number }[],
  payouts: ReadonlyMap<TokenId, bigint> = new Map(),
  until = causes.length,
) {
  const folding = new PositionFold({
    getFeeBips: () => 0n,
    getSettlement: (tokenId) => {
      const numerator = payouts.get(tokenId);
      return numerator === undefined
        ? null
        : { seq: toSeq(until, 900), timestamp: 0, numerator, sum: 1n };
    },
  });
  for (const [
    at,
    {
      of: [kind, ...tokens],
      cash = 0,
      fee = 0,
    },
  ] of causes.entries()) {
    for (const [index, [tokenId, shares]] of tokens.entries()) {
      const row: FoldRow = {
        seq: toSeq(at + 1, 0),
        sub: subsPerCause + index,
        timestamp: at,
        tokenId,
        kind,
        role: kind === "trade" ? "taker" : null,
        nature: null,
        shares: micros(shares),
        cash: index === 0 ? micros(cash) : 0n,
        fee: index === 0 ? micros(fee) : 0n,
      };
      folding.add(row);
    }
  }
  const positions = [...folding.finish(toSeq(causes.length + 1, 0))];
  return (tokenId: TokenId) => {
    const { shares, known, cost, feeCost, realized, unknownProceeds, costOut } =
      positions.find((one) => one.tokenId === tokenId) ?? assert.fail("no position");
    return [shares, known, cost, feeCost, realized, unknownProceeds, costOut].map(
      (amount) => Number(amount) / 1e6,
    );
  };
}

const buy = { of: ["trade", [yes, 100]], cash: -40 } as const;

test("buy and sell", () => {
  const bought = { ...buy, fee: 0.5 };
  assert.deepEqual(fold([bought])(yes), [100, 100, 40, 0.5, 0, 0, 0]);
  const sold = { of: ["trade", [yes, -40]], cash: 22, fee: 0.2 } as const;
  assert.deepEqual(fold([bought, sold])(yes), [60, 60, 24, 0.3, 5.6, 0, 0]);
});

test("split", () => {
  const own = fold([{ of: ["split", [yes, 10], [no, 10]], cash: -10 }]);
  assert.deepEqual(
    [own(yes), own(no)],
    [yes, no].map(() => [10, 10, 5, 0, 0, 0, 0]),
  );
});

test("merge", () => {
  const own = fold([
    { of: ["trade", [yes, 10]], cash: -4 },
    { of: ["trade", [no, 10]], cash: -5.5 },
    { of: ["merge", [yes, -10], [no, -10]], cash: 10 },
  ]);
  assert.deepEqual([own(yes)[4], own(no)[4]], [1, -0.5]);
});

test("convert", () => {
  const own = fold([
    { of: ["trade", [yes, 100]], cash: -60 },
    { of: ["trade", [no, 100]], cash: -70 },
    {
      of: ["convert", [yes, -100], [no, -100], [thirdYes, 100], [fourthYes, 100]],
      cash: 100,
    },
  ]);
  assert.deepEqual(
    [own(thirdYes), own(fourthYes)],
    [1, 2].map(() => [100, 100, 15, 0, 0, 0, 0]),
  );
  assert.deepEqual([own(yes)[4], own(no)[4]], [0, 0]);
});

test("redeem", () => {
  const causes = [buy, { of: ["trade", [no, 100]], cash: -60 }] as const;
  const payouts = new Map([
    [yes, 1n],
    [no, 0n],
  ]);
  const settled = fold(causes, payouts);
  assert.deepEqual([settled(yes)[4], settled(no)[4]], [60, -60]);
  const redeemed = fold([...causes, { of: ["redeem", [yes, -100]], cash: 100 }], payouts, 2);
  assert.deepEqual(redeemed(yes), [0, 0, 0, 0, 60, 0, 0]);
});

test("transfer", () => {
  const sent = fold([buy, { of: ["transfer_out", [yes, -50]] }]);
  assert.deepEqual(sent(yes), [50, 50, 20, 0, 0, 0, 20]);
  const received = fold([{ of: ["transfer_in", [yes, 50]] }]);
  assert.deepEqual(received(yes), [50, 0, 0, 0, 0, 0, 0]);
});

test("a fee in shares is a part of the cost, and a refund adds shares without one", () => {
  const bought = { of: ["trade", [yes, 98]], cash: -50 } as const;
  assert.deepEqual(fold([bought])(yes), [98, 98, 50, 0, 0, 0, 0]);
  const refunded = fold([bought, { of: ["fee_refund", [yes, 1]] }]);
  assert.deepEqual(refunded(yes), [99, 99, 50, 0, 0, 0, 0]);
});
