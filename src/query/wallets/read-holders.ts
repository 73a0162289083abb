/** Reads who holds some tokens: the sums of all changes of balances, final or not. */
import type { Address, TokenId } from "../../base/ids.ts";
import type { Holder, HolderCount } from "../../market/ledger/holder.ts";
import { zeroAddress } from "../../market/ledger/ledger-row.ts";
import { readRows } from "../../storage/codec/fixed-rows.ts";
import { firstSeqAbove } from "../../storage/covered-facts.ts";
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

/** Balances are sums in the order of the table: without a hash table of all holders, in two thirds of the time. */
const inOrder = "SETTINGS optimize_aggregation_in_order = 1";

/** The state of all balances at one moment, so that the parts of an answer agree. */
export class HolderSnapshot {
  readonly #facts: IndexedFacts;
  readonly #list: HolderList;
  /** SQL of a table of `token_id`, `wallet` and `size`. */
  readonly #balances: string;
  readonly #isWalletSql: string;

  constructor(facts: IndexedFacts, list: HolderList) {
    this.#facts = facts;
    this.#list = list;
    this.#isWalletSql = `NOT (${isIn("wallet", list.contracts.map(hexLiteral))})`;
    this.#balances = balancesSql(facts, list.tokenIds);
  }

  /** Reads the first `limit` holders after one. */
  async first(limit: number, after: Omit<Holder, "rank"> | null): Promise<readonly Holder[]> {
    if (this.#list.tokenIds.length === 0) return [];
    this.#facts.reads.add("holders", "engine");
    const columns = {
      tokenId: ["token_id", 32],
      wallet: ["wallet", 20],
      size: ["size", 32],
    } as const;
    const where = this.#listedSql();
    const clauses = `FROM (${this.#balances}) WHERE ${where} AND ${after === null ? "1" : afterSql(after)}
      ORDER BY size DESC, token_id, wallet LIMIT ${integerLiteral(limit)} ${inOrder}`;
    const [rows, before] = await Promise.all([
      readRows(this.#facts.engine, { columns, clauses }, (reader, row, at) => ({
        tokenId: reader.tokenId(row + at.tokenId),
        wallet: reader.address(row + at.wallet),
        size: BigInt.asUintN(256, reader.int256(row + at.size)),
      })),
      after === null ? [] : this.#countBefore(after),
    ]);
    const ranks = new Map(before);
    return [...rows].map((holder) => {
      const rank = (ranks.get(holder.tokenId) ?? 0) + 1;
      ranks.set(holder.tokenId, rank);
      return { ...holder, rank };
    });
  }

  /** Counts the holders of each token up to one. A window function would sort them all for each page. */
  async #countBefore(last: Omit<Holder, "rank">): Promise<readonly (readonly [TokenId, number])[]> {
    const rows = await this.#facts.engine.query(
      `SELECT lower(hex(token_id)), count() FROM (${this.#balances})
       WHERE ${this.#listedSql()} AND NOT ${afterSql(last)} GROUP BY token_id ${inOrder}`,
    );
    return rows.map(([tokenId, count]) => [`0x${String(tokenId)}` as TokenId, Number(count)]);
  }

  #listedSql(): string {
    const { hasContracts, sizeMin } = this.#list;
    return `${hasContracts ? "1" : this.#isWalletSql} AND size >= toUInt256('${sizeMin}')`;
  }

  /** Counts the holders of each token. Tokens without any are left out. */
  async count(): Promise<readonly HolderCount[]> {
    if (this.#list.tokenIds.length === 0) return [];
    const rows = await this.#facts.engine.query(
      `SELECT lower(hex(token_id)), countIf(${this.#isWalletSql}), count() FROM (${this.#balances}) GROUP BY token_id ${inOrder}`,
    );
    return rows.map(([tokenId, holders, all]) => ({
      tokenId: `0x${String(tokenId)}` as TokenId,
      holders: Number(holders),
      holdersWithContracts: Number(all),
    }));
  }
}

function afterSql({ size, tokenId, wallet }: Omit<Holder, "rank">): string {
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
