/**
 * Which fills are asked for. One filter, two readings that must agree: as SQL over the store, and
 * as a predicate over the tail in memory. A test compares them on generated rows.
 */
import type { Address, Hash, Seq, TokenId } from "../base/ids.ts";
import type { ExchangeName } from "../contracts/contracts.ts";
import type { Side } from "../contracts/events.ts";
import type { Fill, FillRole, MatchType } from "../market/fill.ts";
import { invertedSql, invertFill } from "../market/invert.ts";
import {
  decimalLiteral,
  hexLiteral,
  integerLiteral,
  listLiteral,
  wordLiteral,
} from "../storage/sql-literal.ts";

/** Absent means any. All present conditions must hold. */
export type FillFilter = {
  readonly roles?: readonly FillRole[];
  readonly tokenIds?: readonly TokenId[];
  /** The trades of this token are sent on the other of its pair, and compared as reported. */
  readonly invertedTokenId?: TokenId;
  readonly side?: Side;
  /** What the order itself was about, which on a mint or a merge is the other token. */
  readonly makerTokenIds?: readonly TokenId[];
  readonly makerSide?: Side;
  readonly sizeMin?: bigint;
  readonly sizeMax?: bigint;
  readonly valueMin?: bigint;
  readonly maker?: Address;
  readonly taker?: Address;
  readonly wallet?: Address;
  readonly exchange?: ExchangeName;
  readonly matchType?: MatchType;
  readonly txHash?: Hash;
  readonly orderHash?: Hash;
  /** Unix seconds, inclusive. */
  readonly timestampFrom?: number;
  /** Unix seconds, exclusive. */
  readonly timestampTo?: number;
  /** Inclusive. */
  readonly seqFrom?: Seq;
  /** Exclusive. */
  readonly seqTo?: Seq;
  /** Inclusive; the position of the match that a fill is part of, where it is part of one. */
  readonly matchSeqFrom?: Seq;
};

/** One condition: how the engine tests it, and how memory does. */
type Condition = { readonly sql: string; readonly holds: (fill: Fill) => boolean };

/** The conditions of a filter joined for a `WHERE`. */
export function filterSql(filter: FillFilter): string {
  const conditions = conditionsOf(filter).map((condition) => condition.sql);
  return conditions.length === 0 ? "1" : conditions.join(" AND ");
}

/** Whether a fill passes the filter. */
export function filterHolds(filter: FillFilter): (fill: Fill) => boolean {
  const conditions = conditionsOf(filter);
  return (fill) => conditions.every((condition) => condition.holds(fill));
}

/** Never true: an `IN` over nothing. */
const nothing: Condition = { sql: "0", holds: () => false };

function conditionsOf(filter: FillFilter): Condition[] {
  return [...placeConditions(filter), ...partyConditions(filter), ...amountConditions(filter)];
}

function placeConditions(filter: FillFilter): Condition[] {
  const { seqFrom, seqTo, matchSeqFrom, timestampFrom, timestampTo, txHash } = filter;
  const { roles, exchange } = filter;
  return present([
    given(seqFrom, (seq) => ({
      sql: `seq >= ${integerLiteral(seq)}`,
      holds: (fill) => fill.seq >= seq,
    })),
    given(seqTo, (seq) => ({
      sql: `seq < ${integerLiteral(seq)}`,
      holds: (fill) => fill.seq < seq,
    })),
    given(matchSeqFrom, (seq) => ({
      sql: `if(match_seq = 0, seq, match_seq) >= ${integerLiteral(seq)}`,
      holds: (fill) => (fill.matchSeq ?? fill.seq) >= seq,
    })),
    given(timestampFrom, (time) => ({
      sql: `timestamp >= ${integerLiteral(time)}`,
      holds: (fill) => fill.timestamp >= time,
    })),
    given(timestampTo, (time) => ({
      sql: `timestamp < ${integerLiteral(time)}`,
      holds: (fill) => fill.timestamp < time,
    })),
    given(txHash, (hash) => ({
      sql: `tx_hash = ${hexLiteral(hash)}`,
      holds: (fill) => fill.txHash === hash,
    })),
    given(roles, (wanted) => ({
      sql: `role IN ${listLiteral(wanted.map(wordLiteral))}`,
      holds: (fill) => wanted.includes(fill.role),
    })),
    given(exchange, (name) => ({
      sql: `exchange = ${wordLiteral(name)}`,
      holds: (fill) => fill.exchange.exchange === name,
    })),
  ]);
}

function partyConditions(filter: FillFilter): Condition[] {
  const { tokenIds, makerTokenIds, makerSide, maker, taker, wallet, orderHash } = filter;
  return present([
    given(tokenIds, (ids) => isAmong(ids, { column: "token_id", read: ({ tokenId }) => tokenId })),
    given(makerTokenIds, (ids) =>
      isAmong(ids, { column: "maker_token_id", read: ({ makerTokenId }) => makerTokenId }),
    ),
    given(makerSide, (wanted) => ({
      sql: `maker_side = ${wordLiteral(wanted)}`,
      holds: (fill) => fill.makerSide === wanted,
    })),
    given(maker, (address) => ({
      sql: `maker = ${hexLiteral(address)}`,
      holds: (fill) => fill.maker === address,
    })),
    given(taker, (address) => ({
      sql: `taker = ${hexLiteral(address)}`,
      holds: (fill) => fill.taker === address,
    })),
    given(wallet, (address) => ({
      sql: `(maker = ${hexLiteral(address)} OR taker = ${hexLiteral(address)})`,
      holds: (fill) => fill.maker === address || fill.taker === address,
    })),
    given(orderHash, (hash) => ({
      sql: `order_hash = ${hexLiteral(hash)}`,
      holds: (fill) => fill.orderHash === hash,
    })),
  ]);
}

function isAmong(
  ids: readonly TokenId[],
  { column, read }: { column: string; read: (fill: Fill) => TokenId },
): Condition {
  const [only, ...others] = ids;
  if (only === undefined) return nothing;
  return {
    // Only of what equals one value does the engine know that it lies in the order of the rest.
    sql:
      others.length === 0
        ? `${column} = ${hexLiteral(only)}`
        : `${column} IN ${listLiteral(ids.map(hexLiteral))}`,
    holds: (fill) => ids.includes(read(fill)),
  };
}

function amountConditions(filter: FillFilter): Condition[] {
  const { side, matchType, sizeMin, sizeMax, valueMin, invertedTokenId } = filter;
  const shown = reportedAs(invertedTokenId);
  return present([
    given(side, (wanted) => ({
      sql: `${shown.sideSql} = ${wordLiteral(wanted)}`,
      holds: (fill) => shown.side(fill) === wanted,
    })),
    given(matchType, (wanted) => ({
      sql: `match_type = ${wordLiteral(wanted)}`,
      holds: (fill) => fill.matchType === wanted,
    })),
    given(sizeMin, (micros) => ({
      sql: `size >= ${decimalLiteral(micros)}`,
      holds: (fill) => fill.size >= micros,
    })),
    given(sizeMax, (micros) => ({
      sql: `size <= ${decimalLiteral(micros)}`,
      holds: (fill) => fill.size <= micros,
    })),
    given(valueMin, (micros) => ({
      sql: `${shown.valueSql} >= ${decimalLiteral(micros)}`,
      holds: (fill) => shown.value(fill) >= micros,
    })),
  ]);
}

/** Side and value as clients are sent them: turned around for the inverted token. */
function reportedAs(inverted: TokenId | undefined): {
  sideSql: string;
  valueSql: string;
  side: (fill: Fill) => Side;
  value: (fill: Fill) => bigint;
} {
  if (inverted === undefined) {
    const shown = { side: (fill: Fill) => fill.side, value: (fill: Fill) => fill.value };
    return { sideSql: "side", valueSql: "value", ...shown };
  }
  const sql = invertedSql(`token_id = ${hexLiteral(inverted)}`);
  return {
    sideSql: sql.side,
    valueSql: sql.value,
    side: (fill) => (fill.tokenId === inverted ? invertFill(fill, inverted).side : fill.side),
    value: (fill) => (fill.tokenId === inverted ? invertFill(fill, inverted).value : fill.value),
  };
}

function given<Value>(
  value: Value | undefined,
  make: (value: Value) => Condition,
): Condition | undefined {
  return value === undefined ? undefined : make(value);
}

function present(conditions: readonly (Condition | undefined)[]): Condition[] {
  return conditions.filter((condition) => condition !== undefined);
}
