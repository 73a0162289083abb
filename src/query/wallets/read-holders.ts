/** Reads who holds some tokens: the sums of all changes of balances, final or not. */
import type { Address, TokenId } from "../../base/ids.ts";
import type { Holder, HolderCount } from "../../market/ledger/holder.ts";
import { zeroAddress } from "../../market/ledger/ledger-row.ts";
import { readRows } from "../../storage/codec/fixed-rows.ts";
import { firstSeqAbove } from "../../storage/covered-facts.ts";
import { pageSettings } from "../../storage/engine/read-settings.ts";
import { hexLiteral, integerLiteral } from "../../storage/sql-literal.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import { isIn } from "../condition.ts";

/** Which holders of which tokens, the largest first; ties by token and address. */
export type HolderList = {
  readonly tokenIds: readonly TokenId[];
  /** Contracts, which hold tokens of others. They are counted apart. */
  readonly contracts: readonly Address[];
  readonly hasContracts: boolean;
  /** In micros; at least 1. */
  readonly sizeMin: bigint;
};

export type HolderPosition = Omit<Holder, "rank">;

/** Holders of some tokens, and how many there are of each. Tokens without any are left out of the counts. */
type HolderPage = {
  readonly holders: readonly Holder[];
  readonly counts: readonly HolderCount[];
};

const columns = {
  tokenId: ["token_id", 32],
  wallet: ["wallet", 20],
  size: ["size", 32],
  isRequested: ["is_requested", 1],
  before: ["before", 8],
  holders: ["holders", 8],
  holdersWithContracts: ["holders_with_contracts", 8],
} as const;

/**
 * Reads the first `limit` holders after one. Balances are added up once: counts are columns, and one row of each token
 * is read even if it is not requested.
 */
export async function readHolders(
  facts: IndexedFacts,
  list: HolderList,
  { limit, after }: { readonly limit: number; readonly after: HolderPosition | null },
): Promise<HolderPage> {
  const { tokenIds, contracts, hasContracts, sizeMin } = list;
  if (tokenIds.length === 0) return { holders: [], counts: [] };
  facts.reads.add("holders", "engine");
  const isWallet = `NOT (${isIn("wallet", contracts.map(hexLiteral))})`;
  const isListed = `${hasContracts ? "1" : isWallet} AND size >= toUInt256('${sizeMin}')`;
  const clauses = `FROM (SELECT token_id, wallet, size, row_number() OVER token = 1 AS is_counted,
      ${isListed} AS is_listed, is_listed AND ${after === null ? "1" : afterSql(after)} AS is_requested,
      countIf(is_listed AND NOT is_requested) OVER token AS before,
      countIf(${isWallet}) OVER token AS holders, count() OVER token AS holders_with_contracts
      FROM (${balancesSql(facts, tokenIds)}) WINDOW token AS (PARTITION BY token_id))
    ORDER BY is_counted DESC, is_requested DESC, size DESC, token_id, wallet
    LIMIT ${integerLiteral(limit + tokenIds.length)} SETTINGS ${pageSettings}`;
  const read = await readRows(facts.engine, { columns, clauses }, (reader, row, at) => ({
    tokenId: reader.tokenId(row + at.tokenId),
    wallet: reader.address(row + at.wallet),
    size: BigInt.asUintN(256, reader.int256(row + at.size)),
    isRequested: reader.uint8(row + at.isRequested) === 1,
    before: reader.uint64(row + at.before),
    holders: reader.uint64(row + at.holders),
    holdersWithContracts: reader.uint64(row + at.holdersWithContracts),
  }));
  const rows = [...read];
  const counts = new Map(rows.map((row) => [row.tokenId, row]));
  const requested = rows.filter(({ isRequested }) => isRequested).toSorted(compareHolders);
  const ranks = new Map<TokenId, number>();
  const holders = requested.slice(0, limit).map(({ tokenId, wallet, size, before }) => {
    const rank = (ranks.get(tokenId) ?? before) + 1;
    ranks.set(tokenId, rank);
    return { tokenId, wallet, size, rank };
  });
  return { holders, counts: [...counts.values()] };
}

function compareHolders(one: HolderPosition, other: HolderPosition): number {
  if (one.size !== other.size) return one.size > other.size ? -1 : 1;
  if (one.tokenId !== other.tokenId) return one.tokenId < other.tokenId ? -1 : 1;
  return one.wallet < other.wallet ? -1 : 1;
}

function afterSql({ size, tokenId, wallet }: HolderPosition): string {
  const literal = `toUInt256('${size}')`;
  const next = `(token_id, wallet) > (${hexLiteral(tokenId)}, ${hexLiteral(wallet)})`;
  return `(size < ${literal} OR (size = ${literal} AND ${next}))`;
}

/** Returns SQL for all balances but 0 of some tokens. Balances are modulo 2^256, as at the contract. */
function balancesSql({ coverage, headBuffer }: IndexedFacts, tokenIds: readonly TokenId[]): string {
  const isRead = new Set(tokenIds);
  const net = new Map<string, { tokenId: TokenId; wallet: Address; shares: bigint }>();
  for (const { balances } of headBuffer.blocks) {
    for (const { tokenId, wallet, shares } of balances) {
      if (!isRead.has(tokenId) || wallet === zeroAddress) continue;
      const key = wallet + tokenId;
      net.set(key, { tokenId, wallet, shares: shares + (net.get(key)?.shares ?? 0n) });
    }
  }
  const own = `${isIn("token_id", tokenIds.map(hexLiteral))} AND wallet != ${hexLiteral(zeroAddress)}`;
  const final = `SELECT token_id, wallet, shares FROM balance_changes
    WHERE ${own} AND seq < ${integerLiteral(firstSeqAbove(coverage))}`;
  const changes = net.size === 0 ? final : `${final} UNION ALL ${valuesSql([...net.values()])}`;
  return `SELECT token_id, wallet, toUInt256(sum(shares)) AS size FROM (${changes})
    GROUP BY token_id, wallet HAVING size != 0`;
}

/** Returns SQL that selects some changes as a table of the same columns. */
function valuesSql(
  changes: readonly {
    readonly tokenId: TokenId;
    readonly wallet: Address;
    readonly shares: bigint;
  }[],
): string {
  const rows = changes.map(
    ({ tokenId, wallet, shares }) =>
      `(${hexLiteral(tokenId)}, ${hexLiteral(wallet)}, '${BigInt.asIntN(256, shares)}')`,
  );
  return `SELECT token_id, wallet, toInt256(shares) AS shares FROM values(
    'token_id FixedString(32), wallet FixedString(20), shares String', ${rows.join()})`;
}
