import { type Address, type TokenId, toBlockNumber, toFirstSeq, toLastSeq } from "../base/ids.ts";
import type { Fill } from "../market/fill.ts";
import type { FillTable } from "../storage/codec/fill-layout.ts";
import { fewRowsSettings, inOrderSettings, pageSettings } from "../storage/engine/read-settings.ts";
import { hexLiteral, integerLiteral } from "../storage/sql-literal.ts";
import { readStoredFills } from "../storage/stored-fills.ts";
import { encodeTradeStream, type TradeFile } from "../storage/trade-columns.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import { type FillFilter, fillCondition } from "./fill-filter.ts";
import { type FillPage, pageBound, withinLifetime } from "./page-bounds.ts";
import { type NearPart, RowSnapshot, type StoredList } from "./row-snapshot.ts";

/** Returns how to read the rows of a list of fills. */
export function storedFills(list: Omit<FillPage, "limit">): StoredList<Fill> {
  const { filter, getTotals } = list;
  const tokenIds = [...new Set(filter.tokenIds)];
  const table = tableFor(filter);
  const hasFewTokens = table === "fills_by_token" && isFew(tokenIds);
  const condition = fillCondition(filter);
  const wallet = getTracedWallet(list);
  const traced = wallet === null ? "" : ` AND ${tradedBlocksSql(wallet)}`;
  return {
    ...list,
    question: "trades",
    table,
    ...(hasFewTokens
      ? { byToken: tokenIds.map((id) => toSql({ ...filter, tokenIds: [id] }, getTotals) + traced) }
      : {}),
    settings: hasFewTokens ? settingsFor(filter) : pageSettings,
    read: (engine, clauses) => readStoredFills(engine, table, clauses),
    getNearPart: (facts, limit) => getNearPart(facts, { ...list, limit }),
    unfinalizedIn: (headBuffer) => headBuffer.fills(),
    sql: condition.sql + traced,
    holds: condition.holds,
  };
}

/** Returns how to read a list of trades as `toTradeRow` presents them, which the engine can encode. */
export function storedTrades(
  list: Omit<FillPage, "limit">,
  getToken: TradeFile["getToken"],
): StoredList<Fill> {
  const { order } = list;
  const encode: StoredList<Fill>["encode"] = (engine, from, columns) =>
    encodeTradeStream(engine, { from, columns, order, getToken });
  return { ...storedFills(list), encode };
}

/** Returns a wallet that all fills of a list have on one side, and whose trades the ledger has; `null` without one. */
function getTracedWallet({ filter, isTraced }: Omit<FillPage, "limit">): Address | null {
  const wallets = [filter.maker, filter.taker, filter.wallet].filter((one) => one !== undefined);
  return wallets.find((wallet) => isTraced?.(wallet) === true) ?? null;
}

/** Returns the condition that a wallet traded in the block of a fill. `clauses` select among its rows of the ledger. */
function tradedBlocksSql(wallet: Address, clauses = ""): string {
  const block = `intDiv(seq, ${integerLiteral(toFirstSeq(1))})`;
  return `${block} GLOBAL IN (SELECT ${block} FROM ledger
    WHERE wallet = ${hexLiteral(wallet)} AND kind = 'trade' ${clauses})`;
}

/** Returns the part of a list in the blocks of the next trades of a wallet. */
function tracedPart(wallet: Address, page: FillPage): NearPart {
  const { filter, getTotals, order, after, limit } = page;
  const edge =
    after === null
      ? ""
      : order === "asc"
        ? `AND seq >= ${integerLiteral(toFirstSeq(toBlockNumber(after)))}`
        : `AND seq <= ${integerLiteral(toLastSeq(toBlockNumber(after)))}`;
  // A trade with oneself has two rows, and a page can begin within a match.
  const rows = `ORDER BY seq ${order} LIMIT ${integerLiteral(2 * limit)}`;
  const sql = `${toSql(filter, getTotals)} AND ${tradedBlocksSql(wallet, `${edge} ${rows}`)}`;
  return { sql, bound: "unknown" };
}

/** Returns the condition of a filter, narrowed when the table is ordered by token. */
function toSql(filter: FillFilter, getTotals: FillPage["getTotals"]): string {
  const isByToken = tableFor(filter) === "fills_by_token";
  return fillCondition(isByToken ? withinLifetime(filter, getTotals) : filter).sql;
}

/** Returns the settings for few tokens. Only a filter by time needs a skip index besides the order of the table. */
function settingsFor({ timestampFrom, timestampTo }: FillFilter): string {
  const hasTime = timestampFrom !== undefined || timestampTo !== undefined;
  return hasTime ? fewRowsSettings : inOrderSettings;
}

/** Returns the table to read. The hash index of an order or transaction is faster than the order by token. */
export function tableFor({ tokenIds, orderHash, txHash }: FillFilter): FillTable {
  const hasHash = orderHash !== undefined || txHash !== undefined;
  return tokenIds === undefined || hasHash ? "fills" : "fills_by_token";
}

/** Reads one page. */
export async function readFills(facts: IndexedFacts, page: FillPage): Promise<readonly Fill[]> {
  return new RowSnapshot(facts, storedFills(page)).first(page.limit);
}

/** Returns the part of a list that probably contains the page; `null` when there is no estimate. */
function getNearPart(facts: IndexedFacts, page: FillPage): NearPart | null {
  const wallet = getTracedWallet(page);
  if (wallet !== null) return tracedPart(wallet, page);
  const { filter, order } = page;
  const bound = pageBound(facts, page);
  if (bound === undefined) return null;
  const bounds = bound === null ? {} : order === "desc" ? { seqFrom: bound } : { seqTo: bound };
  return { sql: toSql({ ...filter, ...bounds }, page.getTotals), bound };
}

function isFew(tokenIds: readonly TokenId[]): boolean {
  // Both outcomes on both ledgers.
  return tokenIds.length > 0 && tokenIds.length <= 4;
}
