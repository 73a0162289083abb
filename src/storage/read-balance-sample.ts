import type { BalancePair } from "../chain/verify/token-balances.ts";
import type { Contracts } from "../contracts/contracts.ts";
import { getCollateralId } from "../market/ledger/collateral.ts";
import { zeroAddress } from "../market/ledger/ledger-row.ts";
import { readRows } from "./codec/fixed-rows.ts";
import type { CoveredParts } from "./covered-facts.ts";
import { firstSeqAbove } from "./covered-facts.ts";
import { hexLiteral, integerLiteral } from "./sql-literal.ts";

/** How much a balance changed since the first indexed block: the balance itself, if nothing came before. */
export type StoredBalance = BalancePair & { readonly shares: bigint };

const columns = {
  tokenId: ["token_id", 32],
  wallet: ["wallet", 20],
  shares: ["sum(shares)", 32],
} as const;

/** Reads about `count` holders of tokens, chosen at random by `seed`, with what they hold at the end of the coverage. */
export async function readBalanceSample(
  { engine, coverage }: Pick<CoveredParts, "engine" | "coverage">,
  { count, seed }: { readonly count: number; readonly seed: number },
  contracts: Contracts,
): Promise<readonly StoredBalance[]> {
  const excluded = `token_id != ${hexLiteral(getCollateralId(contracts))} AND wallet != ${hexLiteral(zeroAddress)}`;
  const where = `${excluded} AND seq < ${integerLiteral(firstSeqAbove(coverage))}`;
  const [row] = await engine.query(
    `SELECT uniq(token_id, wallet) FROM balance_changes WHERE ${where}`,
  );
  const parts = Math.max(1, Math.floor(Number(row?.[0]) / count));
  const hash = `cityHash64(token_id, wallet, ${integerLiteral(seed)})`;
  const clauses = `FROM balance_changes WHERE ${where} AND ${hash} % ${integerLiteral(parts)} = 0
    GROUP BY token_id, wallet ORDER BY ${hash} LIMIT ${integerLiteral(count)}`;
  const sample = await readRows(engine, { columns, clauses }, (rows, at, offsets) => ({
    tokenId: rows.tokenId(at + offsets.tokenId),
    wallet: rows.address(at + offsets.wallet),
    shares: rows.int256(at + offsets.shares),
  }));
  return [...sample];
}
