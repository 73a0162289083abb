import { firstSeqOf, type Seq, type TokenId } from "../base/ids.ts";
import type { Fill } from "../market/fill.ts";
import type { TokenTotals } from "../market/market.ts";
import type { FillTable } from "../storage/codec/fill-layout.ts";
import { fewRowsSettings, inOrderSettings, pageSettings } from "../storage/read-settings.ts";
import { readStoredFills } from "../storage/stored-fills.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { NewestOf } from "../views/recent/recent-fills.ts";
import { type FillFilter, filterHolds, filterSql } from "./fill-filter.ts";
import {
  type ListOrder,
  type Reach,
  readFinalRows,
  readRows,
  type StoredList,
} from "./merged-list.ts";

/** A list of fills: what passes `filter`, in the order of the chain or against it. */
export type FillList = ListOrder & { readonly filter: FillFilter };

type FillPage = FillList & {
  readonly limit: number;
  /** How many trades a token has and where its newest one is, which says where a page is likely to be. */
  readonly totalsOf?: (tokenId: TokenId) => Pick<TokenTotals, "trades" | "lastTrade">;
};

/** Where the rows of a list are. */
export function storedFills({ filter, order, after, finalizedOnly }: FillList): StoredList<Fill> {
  const tokenIds = [...new Set(filter.tokenIds)];
  const table = tableFor(filter);
  const isOfFew = table === "fills_by_token" && isFew(tokenIds);
  return {
    order,
    after,
    finalizedOnly,
    question: "trades",
    table,
    ...(isOfFew ? { byToken: tokenIds.map((id) => ofTokens({ ...filter, tokenIds: [id] })) } : {}),
    settings: isOfFew ? settingsFor(filter) : pageSettings,
    read: (engine, clauses) => readStoredFills(engine, table, clauses),
    sql: filterSql(filter),
    unfinalizedIn: (headBuffer) => headBuffer.fills(),
    holds: filterHolds(filter),
  };
}

function ofTokens(filter: FillFilter): { readonly prewhere: string; readonly sql: string } {
  return { prewhere: filterSql({ tokenIds: filter.tokenIds }), sql: filterSql(filter) };
}

/** Only times are not found by the order of the table: they have an index. */
function settingsFor({ timestampFrom, timestampTo }: FillFilter): string {
  const hasTime = timestampFrom !== undefined || timestampTo !== undefined;
  return hasTime ? fewRowsSettings : inOrderSettings;
}

/** An order or a transaction is found by its hash sooner than by token. */
function tableFor({ tokenIds, orderHash, txHash }: FillFilter): FillTable {
  const hasHash = orderHash !== undefined || txHash !== undefined;
  return tokenIds === undefined || hasHash ? "fills" : "fills_by_token";
}

/** Reads one page. */
export async function readFills(store: IndexedFacts, page: FillPage): Promise<readonly Fill[]> {
  const { limit } = page;
  const newest = page.after === null && page.order === "desc" ? plainTrades(page.filter) : null;
  const from = likelyFrom(store, page);
  const near =
    from === null ? {} : { near: { ...ofTokens({ ...page.filter, seqFrom: from }), from } };
  const rows = { ...storedFills(page), ...near };
  return newest === null
    ? readRows(store, rows, { limit })
    : readRows(store, rows, {
        limit,
        readFinal: async (reach) => readNewest(store, rows, { ...reach, of: newest, size: limit }),
      });
}

/** The newest final rows of a list that may be popular: a whole page of `size` is read and kept. */
async function readNewest(
  store: IndexedFacts,
  list: StoredList<Fill>,
  { of, size, boundary, limit }: Reach & { readonly of: NewestOf; readonly size: number },
): Promise<readonly Fill[]> {
  const kept = store.recentFills.get(of, limit);
  if (kept !== null) {
    store.reads.add("trades", "recent");
    return kept;
  }
  const { appends } = store;
  const rows = await readFinalRows(store, list, { boundary, limit: size });
  // A concurrent append may have added trades that these rows lack.
  if (store.appends === appends) store.recentFills.put(of, rows, size);
  return rows.slice(0, limit);
}

/** How many times the trades of a page are expected where it is looked for first. */
const nearPages = 2;

/** Where a page of all trades of some tokens ends if they were traded evenly until the newest; `null` for other pages. */
function likelyFrom(
  { coverage }: IndexedFacts,
  { filter, order, after, limit, totalsOf }: FillPage,
): Seq | null {
  const { tokenIds = [], seqTo = Infinity } = filter;
  const isOfTokens = tokenIds.length > 0 && asksOnlyFor(filter, [...plainNames, "seqTo"]);
  if (order === "asc" || totalsOf === undefined || coverage === null || !isOfTokens) return null;
  const totals = tokenIds.map(totalsOf);
  const trades = totals.reduce((sum, one) => sum + one.trades, 0);
  const newest = Math.max(...totals.map(({ lastTrade }) => lastTrade?.seq ?? 0));
  const oldest = firstSeqOf(coverage.fromBlock);
  const span = ((newest - oldest) * limit * nearPages) / Math.max(1, trades);
  const from = Math.floor(Math.min(newest, after ?? Infinity, seqTo) - span);
  return (from > oldest ? from : 0) as Seq;
}

/** What does not narrow a list down beyond its tokens. */
const plainNames = ["roles", "tokenIds", "invertedTokenId"];

/** Which trades a filter asks for, when it asks for all of one or two tokens, or simply for all. */
function plainTrades(filter: FillFilter): NewestOf | null {
  const { roles, tokenIds = null } = filter;
  const areTrades = roles?.length === 2 && !roles.includes("taker");
  const areFew = tokenIds === null || isFew(tokenIds);
  return areTrades && areFew && asksOnlyFor(filter, plainNames) ? { tokenIds } : null;
}

function asksOnlyFor(filter: FillFilter, names: readonly string[]): boolean {
  return Object.entries(filter).every(
    ([name, value]) => value === undefined || names.includes(name),
  );
}

function isFew(tokenIds: readonly TokenId[]): boolean {
  return tokenIds.length > 0 && tokenIds.length <= 2;
}
