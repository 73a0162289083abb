/** Compares the ledger of recorded logs with the books of the script that made them, and with balances read from contract state. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readFixture } from "../../../test/support/read-fixture.ts";
import {
  knownContracts,
  readRecordedBlocks,
  toBlock,
} from "../../../test/support/recorded-chain.ts";
import {
  type ExpectedRow,
  formatExpectedRow,
  formatRows,
  readBranches,
  readExpectedBalances,
  readExpectedLedger,
} from "../../../test/support/recorded-ledger.ts";
import { getFeeBips } from "../../../test/support/recorded-positions.ts";
import { formatTokenId } from "../../base/ids.ts";
import type { Block } from "../../chain/raw-log.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts } from "../block-facts.ts";
import { collateralPools, getCollateralId, getPoolAccount } from "./collateral.ts";
import { getCause, type LedgerRow } from "./ledger-row.ts";
import { conversionCash } from "./position.ts";
import { isPassThrough } from "./token-flow.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const derive = (blocks: readonly Block[]) =>
  blocks.map((block) => deriveBlockFacts(block, decoder));
const facts = derive(readRecordedBlocks("wallets"));

function assertLedger(blocks: readonly BlockFacts[], expected: readonly ExpectedRow[]): void {
  const rows = blocks.flatMap((block) => formatRows(block.ledger.map(withConversionFee)));
  const right = expected.filter(({ kind }) => kind !== "resolution").map(formatExpectedRow);
  const [own, theirs] = [toLines(rows), toLines(right)];
  const [ownLines, requested] = [new Set(own), new Set(theirs)];
  assert.deepEqual(own.filter((line) => !requested.has(line)).slice(0, 3), []);
  assert.deepEqual(theirs.filter((line) => !ownLines.has(line)).slice(0, 3), []);
  assert.ok(own.every((line, index) => line === theirs[index]));
}

/** Subtracts the fee of a conversion of all outcomes, which is not in its logs. */
function withConversionFee(row: LedgerRow, _: number, rows: readonly LedgerRow[]): LedgerRow {
  if (row.kind !== "convert" || row.cash === 0n) return row;
  const cause = rows.filter(({ seq, wallet, sub }) => {
    return seq === row.seq && wallet === row.wallet && getCause({ sub }) === getCause(row);
  });
  if (cause.some(({ shares }) => shares > 0n)) return row;
  return { ...row, cash: conversionCash(cause, getFeeBips(row.tokenId)) };
}

function toLines(rows: readonly unknown[]): string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted();
}

describe("every row of the ledger", () => {
  test("of the chain", () => assertLedger(facts, readExpectedLedger()));
  for (const { from, to, blocks, ledger } of readBranches()) {
    test(`of the branch of blocks ${from} to ${to}`, () => {
      assertLedger(derive(blocks.map(toBlock)), ledger);
    });
  }
});

test("the rows explain every transfer", () => {
  const kinds = facts.flatMap(({ anomalies }) => anomalies.map(({ kind }) => kind));
  // The exchange had shares that the taker received.
  assert.deepEqual(kinds, ["legs_differ_from_summary"]);
});

test("balances equal those of the contracts after every block, and the ledger adds up to them", () => {
  const { holders, tokens, blocks } = readExpectedBalances();
  const changes = new Map(blocks.map(([number, changed]) => [number, changed]));
  const balances = new Map<string, bigint>();
  const sums = new Map<string, bigint>();
  const add = (to: Map<string, bigint>, key: string, shares: bigint) =>
    to.set(key, (to.get(key) ?? 0n) + shares);
  for (const { number, balances: changed, ledger } of facts) {
    for (const { wallet, tokenId, shares } of changed) add(balances, wallet + tokenId, shares);
    for (const { wallet, tokenId, shares } of ledger) add(sums, wallet + tokenId, shares);
    for (const { wallet, tokenId } of changed) {
      if (wallet.endsWith("0".repeat(40)) || tokenId === getCollateralId(contracts)) continue;
      const sum = isPassThrough(contracts, wallet) ? undefined : balances.get(wallet + tokenId);
      assert.equal(
        sums.get(wallet + tokenId),
        sum,
        `${number} ${wallet} ${formatTokenId(tokenId)}`,
      );
    }
    for (const [holder, token, balance] of changes.get(number) ?? []) {
      const key = `${holders[holder]}${tokens[token]}`;
      assert.equal(balances.get(key) ?? 0n, BigInt(balance), `${number} ${key}`);
    }
  }
});

test("the collateral of each pool is what the contracts have", () => {
  const heights = readFixture("wallets/expected-interest.json.gz") as readonly Interest[];
  const collateralId = getCollateralId(contracts);
  for (const { block: height, totals } of heights) {
    const own = facts
      .filter(({ number }) => number <= height)
      .flatMap(({ balances }) => balances.filter(({ tokenId }) => tokenId === collateralId));
    const sums = collateralPools.map((pool) => {
      const changes = own.filter(({ wallet }) => wallet === getPoolAccount(contracts, pool));
      return changes.reduce((sum, { shares }) => sum - shares, 0n);
    });
    const { ctf_usdc, wcol_usdc, gen3_collateral } = totals;
    assert.deepEqual(sums, [ctf_usdc, wcol_usdc, gen3_collateral].map(BigInt), `${height}`);
  }
});

type Interest = {
  readonly block: number;
  readonly totals: Readonly<Record<"ctf_usdc" | "wcol_usdc" | "gen3_collateral", string>>;
};
