import { type Address, type Seq, type TokenId, toBlockNumber, toFirstSeq } from "../base/ids.ts";
import type { Fill } from "../market/fill.ts";
import { hasWholeLedger } from "../market/ledger/token-flow.ts";
import type { FillTable } from "../storage/codec/fill-layout.ts";
import { fewRowsSettings, inOrderSettings, pageSettings } from "../storage/engine/read-settings.ts";
import { blockSql } from "../storage/schema/fact-tables.ts";
import { hexLiteral, integerLiteral } from "../storage/sql-literal.ts";
import { readStoredFills } from "../storage/stored-fills.ts";
import { encodeTradeStream, type TradeFile } from "../storage/trade-columns.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import { isIn, joinConditions, rangeConditions } from "./condition.ts";
import { type FillFilter, toFillCondition } from "./fill-filter.ts";
import { type FillPage, pageBound, withinLifetime } from "./page-bounds.ts";
import { type ListPart, RowSnapshot, type StoredList } from "./row-snapshot.ts";

const ledgerRowsMax = 10_000;

/** Returns how to read the rows of a list of fills. */
export function storedFills(list: Omit<FillPage, "limit">): StoredList<Fill> {
  const { filter, tokens } = list;
  const tokenIds = [...new Set(filter.tokenIds)];
  const table = tableFor(filter);
  const hasFewTokens = table === "fills_by_token" && isFew(tokenIds);
  const condition = toFillCondition(filter);
  const wallet = getLedgerWallet(list);
  const ledgerSql = wallet === null ? "" : ` AND ${tradedBlocksSql(wallet)}`;
  return {
    ...list,
    query: "trades",
    ...getTable(table),
    ...(hasFewTokens
      ? { byToken: tokenIds.map((id) => toSql({ ...filter, tokenIds: [id] }, tokens) + ledgerSql) }
      : {}),
    settings: hasFewTokens ? settingsFor(filter) : pageSettings,
    getFirstPart: (facts, limit) => getFirstPart(facts, { ...list, limit }),
    unfinalizedIn: (headBuffer) => headBuffer.fills(),
    sql: condition.sql + ledgerSql,
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
function getLedgerWallet({ filter, tokens }: Omit<FillPage, "limit">): Address | null {
  const { maker, taker, wallet, orderHash, txHash } = filter;
  // The index of a hash is faster.
  if (tokens === undefined || (orderHash ?? txHash) !== undefined) return null;
  const wallets = [maker, taker, wallet].filter((one) => one !== undefined);
  return wallets.find((one) => hasWholeLedger(tokens.contracts, one)) ?? null;
}

function tradedBlocksSql(wallet: Address): string {
  return `${blockSql} GLOBAL IN (SELECT ${blockSql} FROM ledger
    WHERE wallet = ${hexLiteral(wallet)} AND kind = 'trade')`;
}

/**
 * Reads the next `rowsMax` trades of a ledger, and returns the part of a list that is in their blocks. Further parts are
 * larger: few of the fills pass the filter.
 */
async function readLedgerPart(
  facts: IndexedFacts,
  wallet: Address,
  { rowsMax, ...page }: FillPage & { readonly rowsMax: number },
): Promise<ListPart<Fill>> {
  const seqs = await readTradeSeqs(facts, wallet, { ...page, limit: rowsMax });
  const blocks = new Set(seqs.map((seq) => integerLiteral(toBlockNumber(seq))));
  const sql = `${toSql(page.filter, page.tokens)} AND ${isIn(blockSql, [...blocks])}`;
  const rows = { ...getTable("fills"), settings: inOrderSettings };
  const last = seqs.length < rowsMax ? undefined : seqs.at(-1);
  if (last === undefined) return { sql, bound: null, rows };
  const isRising = page.order === "asc";
  // Fills of a taker are before its row in the block: rising rows may lack that of the last ones.
  const bound = isRising ? toFirstSeq(toBlockNumber(last)) : last;
  const after = (isRising ? bound - 1 : bound) as Seq;
  // All rows can be of one block, which is read again.
  const more = Math.min(2 * rowsMax, after === page.after ? Infinity : ledgerRowsMax);
  return {
    sql: `${sql} AND seq ${isRising ? "<" : ">="} ${integerLiteral(bound)}`,
    bound,
    rows,
    readNext: () => readLedgerPart(facts, wallet, { ...page, after, rowsMax: more }),
  };
}

/** Reads where a ledger has trades: of a taker one for each match, after its fills. */
async function readTradeSeqs(
  { engine }: IndexedFacts,
  wallet: Address,
  page: FillPage,
): Promise<readonly Seq[]> {
  // The fill of a mint or a merge can have the other token of the pair.
  const pairs = page.filter.tokenIds?.map((id) => page.tokens?.getPair(id) ?? []) ?? [];
  const isNarrow = pairs.length > 0 && pairs.every(({ length }) => length === 2);
  const tokens = new Set(pairs.flat().map(hexLiteral));
  const rows = await engine.query(
    `SELECT seq FROM ledger WHERE wallet = ${hexLiteral(wallet)} AND kind = 'trade' AND ${remainingBlocksSql(page)}
     ${isNarrow ? `AND ${isIn("token_id", [...tokens])}` : ""} ${roleSql(page.filter, wallet)}
     ORDER BY seq ${page.order} LIMIT ${integerLiteral(page.limit)} SETTINGS ${inOrderSettings}`,
  );
  return rows.map(([seq]) => Number(seq) as Seq);
}

/** Returns the condition of the side that a wallet has in the fills of a filter, for a row of its ledger. */
function roleSql({ maker, taker, roles = ["taker"] }: FillFilter, wallet: Address): string {
  if (taker === wallet) return "AND role != 'maker'";
  return maker === wallet && !roles.includes("taker") ? "AND role = 'maker'" : "";
}

/** Returns the condition of the rows of a ledger in the blocks of the rest of a list. */
function remainingBlocksSql({ filter, order, after }: FillPage): string {
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
  return toFillCondition(isByToken ? withinLifetime(filter, tokens) : filter).sql;
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
function getFirstPart(
  facts: IndexedFacts,
  page: FillPage,
): ListPart<Fill> | null | Promise<ListPart<Fill>> {
  const wallet = getLedgerWallet(page);
  // A few more: a trade with oneself has two rows.
  if (wallet !== null) return readLedgerPart(facts, wallet, { ...page, rowsMax: page.limit + 5 });
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
