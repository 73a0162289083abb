/** Reads who holds some tokens: the sums of all changes of balances, final or not. */
import type { Address, TokenId } from "../../base/ids.ts";
import { mapYielding } from "../../base/time/turns.ts";
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

/** Where a page begins, and how many rows it has. */
type HolderPage = { readonly limit: number; readonly after: HolderPosition | null };

/** Holders of some tokens, and how many there are of each. Tokens without any are left out of the counts. */
type ReadHolders = {
  readonly holders: readonly Holder[];
  readonly counts: readonly HolderCount[];
};

/** A page after the first reads this many holders, 5 MB, for the pages after it. */
const rowsAhead = 50_000;
const clientsMax = 4;

/**
 * Reads pages of holders. Each read adds up all balances of the tokens, so the pages after the first are read together.
 * They are cached until the state changes.
 */
export class HolderPages {
  readonly #facts: IndexedFacts;
  readonly #state: { readonly revision: number };
  #cached: readonly { key: string; revision: number; rows: HolderRows }[] = [];

  constructor(facts: IndexedFacts, state: { readonly revision: number }) {
    this.#facts = facts;
    this.#state = state;
  }

  /** Reads the first `limit` holders after one. */
  async read(list: HolderList, { limit, after }: HolderPage): Promise<ReadHolders> {
    const { revision } = this.#state;
    // A file has more rows than are cached.
    if (after === null || limit > rowsAhead)
      return readHolders(this.#facts, list, { limit, after });
    const key = [...list.tokenIds, list.hasContracts, list.sizeMin, limit].join();
    this.#cached = this.#cached.filter((one) => one.revision === revision);
    for (const { rows } of this.#cached.filter((one) => one.key === key)) {
      const holders = rows.takeAfter(after, limit);
      if (holders !== null) return { holders, counts: rows.counts };
    }
    const rows = await readRowsAfter(this.#facts, list, { limit: rowsAhead, after });
    this.#cached = [{ key, revision, rows }, ...this.#cached].slice(0, clientsMax);
    return { holders: rows.take(limit), counts: rows.counts };
  }
}

/** Reads the first `limit` holders after one. */
export async function readHolders(
  facts: IndexedFacts,
  list: HolderList,
  page: HolderPage,
): Promise<ReadHolders> {
  const rows = await readRowsAfter(facts, list, page);
  const holders = await mapYielding(rows.all(), (holder) => holder);
  return { holders: holders.slice(0, page.limit), counts: rows.counts };
}

/** Holders in their order, which are decoded as they are taken. */
class HolderRows {
  readonly counts: readonly HolderCount[];
  readonly #rows: Iterator<Holder>;
  #remaining: number;
  #taken: readonly Holder[] = [];

  constructor(rows: Iterator<Holder>, counts: readonly HolderCount[], remaining: number) {
    this.#rows = rows;
    this.counts = counts;
    this.#remaining = remaining;
  }

  /** Yields the holders that were not taken. */
  all(): Iterable<Holder> {
    return { [Symbol.iterator]: () => this.#rows };
  }

  /** Takes up to `limit` holders after one, unless it is not one of the last that were taken, or too few are left. */
  takeAfter(after: HolderPosition, limit: number): Holder[] | null {
    const at = this.#taken.findIndex((holder) => compareHolders(holder, after) === 0);
    const repeated = this.#taken.slice(at + 1);
    return at < 0 || limit > repeated.length + this.#remaining ? null : this.take(limit, repeated);
  }

  take(limit: number, repeated: readonly Holder[] = []): Holder[] {
    const holders = [...repeated];
    while (holders.length < limit) {
      const next = this.#rows.next();
      if (next.done === true) break;
      this.#remaining -= 1;
      holders.push(next.value);
    }
    // A page reads a row more than it has.
    this.#taken = holders.slice(-2);
    return holders;
  }
}

const columns = {
  tokenId: ["token_id", 32],
  wallet: ["wallet", 20],
  size: ["size", 32],
  isCounted: ["is_counted", 1],
  isRequested: ["is_requested", 1],
  before: ["before", 8],
  holders: ["holders", 8],
  holdersWithContracts: ["holders_with_contracts", 8],
} as const;

type StoredHolder = HolderPosition &
  HolderCount & {
    readonly isCounted: boolean;
    readonly isRequested: boolean;
    /** Holders of the token before the page. */
    readonly before: number;
  };

/**
 * Reads the first `limit` holders after one. Balances are added up once: counts are columns, and one row of each token
 * is read even if it is not requested.
 */
async function readRowsAfter(
  facts: IndexedFacts,
  { tokenIds, contracts, hasContracts, sizeMin }: HolderList,
  { limit, after }: HolderPage,
): Promise<HolderRows> {
  if (tokenIds.length === 0) return new HolderRows([].values(), [], 0);
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
  const read = await readRows(
    facts.engine,
    { columns, clauses },
    (reader, row, at): StoredHolder => ({
      tokenId: reader.tokenId(row + at.tokenId),
      wallet: reader.address(row + at.wallet),
      size: BigInt.asUintN(256, reader.int256(row + at.size)),
      isCounted: reader.uint8(row + at.isCounted) === 1,
      isRequested: reader.uint8(row + at.isRequested) === 1,
      before: reader.uint64(row + at.before),
      holders: reader.uint64(row + at.holders),
      holdersWithContracts: reader.uint64(row + at.holdersWithContracts),
    }),
  );
  const rows = read[Symbol.iterator]();
  const counted: StoredHolder[] = [];
  let next = rows.next();
  for (; next.done !== true && next.value.isCounted; next = rows.next()) counted.push(next.value);
  return new HolderRows(rankHolders(counted, next, rows), counted, limit);
}
/** Yields the requested holders in order, with their ranks. `first` and `rest` are in order, and `counted` is not. */
function* rankHolders(
  counted: readonly StoredHolder[],
  first: IteratorResult<StoredHolder>,
  rest: Iterator<StoredHolder>,
): Generator<Holder, void> {
  const ranks = new Map<TokenId, number>();
  const toHolder = ({ tokenId, wallet, size, before }: StoredHolder): Holder => {
    const rank = (ranks.get(tokenId) ?? before) + 1;
    ranks.set(tokenId, rank);
    return { tokenId, wallet, size, rank };
  };
  const waiting = counted.filter((row) => row.isRequested).toSorted(compareHolders);
  for (let next = first; next.done !== true && next.value.isRequested; next = rest.next()) {
    const isEarlier = (row: StoredHolder) => compareHolders(row, next.value) < 0;
    while (waiting[0] !== undefined && isEarlier(waiting[0])) {
      yield toHolder(waiting[0]);
      waiting.shift();
    }
    yield toHolder(next.value);
  }
  for (const row of waiting) yield toHolder(row);
}

function compareHolders(one: HolderPosition, other: HolderPosition): number {
  if (one.size !== other.size) return one.size > other.size ? -1 : 1;
  if (one.tokenId !== other.tokenId) return one.tokenId < other.tokenId ? -1 : 1;
  return one.wallet === other.wallet ? 0 : one.wallet < other.wallet ? -1 : 1;
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
