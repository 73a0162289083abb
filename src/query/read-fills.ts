import { type Address, type Seq, type TokenId, toBlockNumber, toFirstSeq } from "../base/ids.ts";
import type { Fill } from "../market/fill.ts";
import { hasWholeLedger } from "../market/ledger/token-flow.ts";
import type { FillTable } from "../storage/codec/fill-layout.ts";
import { readRows } from "../storage/codec/fixed-rows.ts";
import { fewRowsSettings, inOrderSettings, pageSettings } from "../storage/engine/read-settings.ts";
import { hexLiteral, integerLiteral } from "../storage/sql-literal.ts";
import { readStoredFills } from "../storage/stored-fills.ts";
import { encodeTradeStream, type TradeFile } from "../storage/trade-columns.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import { isIn, joinConditions, rangeConditions } from "./condition.ts";
import { type FillFilter, fillCondition } from "./fill-filter.ts";
import { type FillPage, pageBound, withinLifetime } from "./page-bounds.ts";
import { type NearPart, RowSnapshot, type StoredList } from "./row-snapshot.ts";

/** Returns how to read the rows of a list of fills. */
export function storedFills(list: Omit<FillPage, "limit">): StoredList<Fill> {
  const { filter, tokens } = list;
  const tokenIds = [...new Set(filter.tokenIds)];
  const table = tableFor(filter);
  const hasFewTokens = table === "fills_by_token" && isFew(tokenIds);
  const condition = fillCondition(filter);
  const wallet = getTracedWallet(list);
  const traced = wallet === null ? "" : ` AND ${tradedBlocksSql(wallet)}`;
  return {
    ...list,
    query: "trades",
    ...getTable(table),
    ...(hasFewTokens
      ? { byToken: tokenIds.map((id) => toSql({ ...filter, tokenIds: [id] }, tokens) + traced) }
      : {}),
    settings: hasFewTokens ? settingsFor(filter) : pageSettings,
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

function getTable(table: FillTable): Pick<StoredList<Fill>, "table" | "read"> {
  return { table, read: (engine, clauses) => readStoredFills(engine, table, clauses) };
}

/** Returns a wallet that all fills of a list have on one side, and whose trades the ledger has; `null` without one. */
function getTracedWallet({ filter, tokens }: Omit<FillPage, "limit">): Address | null {
  const { maker, taker, wallet, orderHash, txHash } = filter;
  // The index of a hash is faster.
  if (tokens === undefined || (orderHash ?? txHash) !== undefined) return null;
  const wallets = [maker, taker, wallet].filter((one) => one !== undefined);
  return wallets.find((one) => hasWholeLedger(tokens.contracts, one)) ?? null;
}

/** Returns the condition that a wallet traded in the block of a fill. */
function tradedBlocksSql(wallet: Address): string {
  return `${blockSql} GLOBAL IN (SELECT ${blockSql} FROM ledger
    WHERE wallet = ${hexLiteral(wallet)} AND kind = 'trade')`;
}

const blockSql = `intDiv(seq, ${integerLiteral(toFirstSeq(1))})`;

/**
 * Reads where the next trades of a wallet are, and returns the part of a list there. The fill of a mint or a merge has
 * the other token than the row of its maker; unless the pair is known, only its block is.
 */
async function readTracedPart(
  facts: IndexedFacts,
  wallet: Address,
  page: FillPage,
): Promise<NearPart<Fill>> {
  // A fourth more: a trade with oneself has two rows, and pages begin and end within blocks.
  const limit = Math.ceil(1.25 * page.limit);
  const clauses = `FROM ledger WHERE wallet = ${hexLiteral(wallet)} AND kind = 'trade' AND ${wholeBlocksSql(page)}
    ORDER BY seq ${page.order} LIMIT ${integerLiteral(limit)} SETTINGS ${inOrderSettings}`;
  const columns = { seq: ["seq", 8], tokenId: ["token_id", 32] } as const;
  const read = await readRows(facts.engine, { columns, clauses }, (reader, row, at) => ({
    block: toBlockNumber(reader.uint64(row + at.seq) as Seq),
    pair: page.tokens?.getPair(reader.tokenId(row + at.tokenId)) ?? [],
  }));
  const all = [...read];
  // The last block of a full page can have more.
  const end = all.length < limit ? undefined : all.at(-1)?.block;
  const rows = all.filter(({ block }) => block !== end);
  const bound = end === undefined ? null : toFirstSeq(page.order === "asc" ? end : end + 1);
  const isNear =
    bound === null ? "1" : `seq ${page.order === "asc" ? "<" : ">="} ${integerLiteral(bound)}`;
  const isPaired = rows.every(({ pair }) => pair.length === 2);
  const places = rows.flatMap(({ block, pair }) =>
    isPaired
      ? pair.map((id) => `(${hexLiteral(id)}, ${integerLiteral(block)})`)
      : integerLiteral(block),
  );
  const place = isPaired ? `(token_id, ${blockSql})` : blockSql;
  const sql = `${toSql(page.filter, page.tokens)} AND ${isNear} AND ${isIn(place, [...new Set(places)])}`;
  return {
    sql,
    bound,
    ...(isPaired && { rows: { ...getTable("fills_by_token"), settings: fewRowsSettings } }),
  };
}

/** Returns the condition of the rows of a ledger in the blocks of the rest of a list. */
function wholeBlocksSql({ filter, order, after }: FillPage): string {
  const { timestampFrom, timestampTo, seqFrom = 0, seqTo = Infinity } = filter;
  const [from, to] =
    order === "asc"
      ? [Math.max(seqFrom, after ?? 0), seqTo]
      : [seqFrom, Math.min(seqTo, after ?? Infinity)];
  return joinConditions(rangeConditions, {
    timestampFrom,
    timestampTo,
    seqFrom: toFirstSeq(toBlockNumber(from as Seq)),
    // Up to the end of the last block: the block after the largest one has no position.
    seqTo: to === Infinity ? undefined : toFirstSeq(toBlockNumber((to - 1) as Seq) + 1),
  }).sql;
}

/** Returns the condition of a filter, narrowed when the table is ordered by token. */
function toSql(filter: FillFilter, tokens: FillPage["tokens"]): string {
  const isByToken = tableFor(filter) === "fills_by_token";
  return fillCondition(isByToken ? withinLifetime(filter, tokens) : filter).sql;
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
function getNearPart(
  facts: IndexedFacts,
  page: FillPage,
): NearPart<Fill> | null | Promise<NearPart<Fill>> {
  const wallet = getTracedWallet(page);
  if (wallet !== null) return readTracedPart(facts, wallet, page);
  const { filter, order } = page;
  const bound = pageBound(facts, page);
  if (bound === undefined) return null;
  const bounds = bound === null ? {} : order === "desc" ? { seqFrom: bound } : { seqTo: bound };
  return { sql: toSql({ ...filter, ...bounds }, page.tokens), bound };
}

function isFew(tokenIds: readonly TokenId[]): boolean {
  // Both outcomes on both ledgers.
  return tokenIds.length > 0 && tokenIds.length <= 4;
}
