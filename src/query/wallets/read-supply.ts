/** Reads how the supply of tokens changed, from the balances of the zero address and of accounts out of circulation. */
import type { TokenId } from "../../base/ids.ts";
import {
  addSupply,
  getWithdrawnAccounts,
  noSupply,
  type SupplyChange,
  toSupplyChange,
} from "../../market/ledger/holder.ts";
import { zeroAddress } from "../../market/ledger/ledger-row.ts";
import { readRows } from "../../storage/codec/fixed-rows.ts";
import { firstSeqAbove } from "../../storage/covered-facts.ts";
import { hexLiteral, integerLiteral } from "../../storage/sql-literal.ts";
import { isIn } from "../condition.ts";
import type { WalletSources } from "./read-wallet.ts";

/** The changes of a token in a bucket of time, which begins at `bucket`, Unix seconds. */
export type SupplyBucket = SupplyChange & { readonly tokenId: TokenId; readonly bucket: number };

const columns = {
  tokenId: ["token_id", 32],
  bucket: ["bucket", 4],
  minted: ["-sumIf(shares, is_zero AND shares < 0)", 32],
  burnt: ["sumIf(shares, is_zero AND shares > 0)", 32],
  withdrawn: ["sumIf(shares, NOT is_zero)", 32],
} as const;

/** Reads the changes of some tokens by buckets, final or not, in no particular order. */
export async function readSupply(
  { facts, directory }: WalletSources,
  tokenIds: readonly TokenId[],
  bucketSeconds: number,
): Promise<readonly SupplyBucket[]> {
  if (tokenIds.length === 0) return [];
  facts.reads.add("open_interest", "engine");
  const accounts = tokenIds.map((id) => getWithdrawnAccounts(directory.contracts, id));
  const unfinalized = new Map<string, SupplyBucket>();
  for (const { balances, timestamp } of facts.headBuffer.blocks) {
    for (const change of balances) {
      const { tokenId } = change;
      if (!tokenIds.includes(tokenId)) continue;
      const bucket = timestamp - (timestamp % bucketSeconds);
      const key = `${tokenId} ${bucket}`;
      const sum = addSupply(
        unfinalized.get(key) ?? noSupply,
        toSupplyChange(change, directory.contracts),
      );
      unfinalized.set(key, { ...sum, tokenId, bucket });
    }
  }
  const owners = tokenIds.map((id, index) => {
    const accountLiterals = [zeroAddress, ...(accounts[index] ?? [])].map(hexLiteral);
    return `(token_id = ${hexLiteral(id)} AND ${isIn("wallet", accountLiterals)})`;
  });
  const clauses = `FROM (SELECT token_id, shares, wallet = ${hexLiteral(zeroAddress)} AS is_zero,
      toUInt32(timestamp - timestamp % toUInt64(${integerLiteral(bucketSeconds)})) AS bucket
    FROM balance_changes
    WHERE (${owners.join(" OR ")}) AND seq < ${integerLiteral(firstSeqAbove(facts.coverage))})
    GROUP BY token_id, bucket`;
  const final = await readRows(facts.engine, { columns, clauses }, (reader, row, at) => ({
    tokenId: reader.tokenId(row + at.tokenId),
    bucket: reader.uint32(row + at.bucket),
    minted: reader.int256(row + at.minted),
    burnt: reader.int256(row + at.burnt),
    withdrawn: reader.int256(row + at.withdrawn),
  }));
  return [...final, ...unfinalized.values()];
}
