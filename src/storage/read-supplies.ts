import type { Seq } from "../base/ids.ts";
import type { Range } from "../base/range.ts";
import type { Contracts } from "../contracts/contracts.ts";
import { getCollateralId, getSupplyAccounts } from "../market/ledger/collateral.ts";
import type { BalanceChange } from "../market/ledger/ledger-row.ts";
import { readRows } from "./codec/fixed-rows.ts";
import type { Engine } from "./engine/engine.ts";
import { tokenParts } from "./read-totals.ts";
import { hexLiteral, integerLiteral } from "./sql-literal.ts";

const columns = {
  tokenId: ["token_id", 32],
  wallet: ["wallet", 20],
  seq: ["max(seq)", 8],
  timestamp: ["max(timestamp)", 4],
  shares: ["sum(shares)", 32],
} as const;

/**
 * Reads the changes of supplies and collateral in a range of positions, added up for each account, token and direction.
 * Those of collateral are by hour, in rising order.
 */
export async function* readSupplies(
  engine: Engine,
  { from, to }: Range<Seq>,
  contracts: Contracts,
): AsyncGenerator<BalanceChange, void, undefined> {
  const accounts = [...getSupplyAccounts(contracts)].map(hexLiteral).join();
  const collateral = hexLiteral(getCollateralId(contracts));
  const where = `wallet IN (${accounts}) AND seq >= ${integerLiteral(from)} AND seq < ${integerLiteral(to)}`;
  for await (const part of tokenParts(engine, "balance_changes", where)) {
    const clauses = `FROM balance_changes WHERE ${part}
      GROUP BY token_id, wallet, shares < 0, if(token_id = ${collateral}, intDiv(timestamp, 3600), 0)
      ORDER BY token_id, max(seq)`;
    yield* await readRows(engine, { columns, clauses }, (rows, at, offsets) => ({
      tokenId: rows.tokenId(at + offsets.tokenId),
      wallet: rows.address(at + offsets.wallet),
      seq: rows.uint64(at + offsets.seq) as Seq,
      timestamp: rows.uint32(at + offsets.timestamp),
      shares: rows.int256(at + offsets.shares),
    }));
  }
}
