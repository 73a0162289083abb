/** Compares positions with those that the script of the recording kept in its own books, at four heights. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { knownContracts, readRecordedBlocks } from "../../../test/support/recorded-chain.ts";
import { getContext, readExpectedPositions } from "../../../test/support/recorded-positions.ts";
import { formatTokenId, toLastSeq, toTokenId } from "../../base/ids.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { deriveBlockFacts } from "../block-facts.ts";
import type { LedgerRow } from "./ledger-row.ts";
import { type Position, PositionFold } from "./position.ts";

const decoder = new LogDecoder(knownContracts());
const blocks = readRecordedBlocks("wallets").map((block) => deriveBlockFacts(block, decoder));

function positionsAt(block: number, wallet: string): readonly Position[] {
  const rows = blocks
    .filter(({ number }) => number <= block)
    .flatMap(({ ledger }) => ledger.filter((row) => row.wallet === wallet));
  const fold = new PositionFold(getContext(block));
  for (const row of rows.toSorted(inOrder)) fold.add(row);
  return [...fold.finish(toLastSeq(block))];
}

function inOrder(one: LedgerRow, other: LedgerRow): number {
  return one.seq - other.seq || one.sub - other.sub;
}

for (const { block, positions } of readExpectedPositions()) {
  describe(`positions at block ${block}`, () => {
    const byWallet = Map.groupBy(positions, ({ wallet }) => wallet);
    for (const [wallet, expected] of byWallet) {
      test(`of ${wallet}`, () => {
        const found = new Map(
          positionsAt(block, wallet).map((one) => [formatTokenId(one.tokenId), one]),
        );
        for (const want of expected) {
          const own = found.get(want.token_id);
          assert.deepEqual(own && formatPosition(own), pick(want), want.token_id);
        }
      });
    }
  });
}

const names = {
  shares: "shares",
  known: "known",
  cost: "cost",
  feeCost: "fee_cost",
  realized: "realized",
  unknownProceeds: "unknown_proceeds",
  costOut: "cost_out",
  moved: "moved",
  fees: "fees",
  bought: "bought",
  sold: "sold",
} as const;

function formatPosition(position: Position): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).map(([own, name]) => [name, String(position[own as keyof typeof names])]),
  );
}

function pick(want: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.values(names).map((name) => [name, want[name]]));
}

test("the collateral of shares of an unknown owner is no profit", () => {
  for (const kind of ["merge", "hmerge", "redeem"] as const) {
    const row = { seq: toLastSeq(1), sub: 0, timestamp: 0, kind, role: null, nature: null };
    const fold = new PositionFold(getContext(0));
    fold.add({ ...row, tokenId: toTokenId(7n), shares: 0n, cash: 5n, fee: 0n });
    const [position] = fold.finish(toLastSeq(1));
    assert.deepEqual([position?.realized, position?.unknownProceeds], [0n, 5n], kind);
  }
});

test("a batch that begins with no shares of a token moves the shares of the others", () => {
  const row = { seq: toLastSeq(1), timestamp: 0, role: null, nature: null, cash: 0n, fee: 0n };
  const rows = [0n, 5n].map((shares, sub) => ({
    ...row,
    sub,
    tokenId: toTokenId(7n + shares),
    shares,
  }));
  const fold = new PositionFold(getContext(0));
  for (const one of rows) fold.add({ ...one, kind: "transfer_in" });
  const positions = [...fold.finish(toLastSeq(1))].map(({ shares }) => shares);
  assert.deepEqual(positions, [0n, 5n]);
});
