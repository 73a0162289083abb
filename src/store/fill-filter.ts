/**
 * Which fills are asked for. One filter, two readings that must agree: as SQL over the store, and
 * as a predicate over the tail in memory. A test compares them on generated rows.
 */
import type { Address, Hash, Seq, TokenId } from "../base/ids.ts";
import type { ExchangeName } from "../decode/contracts.ts";
import type { Side } from "../decode/events.ts";
import type { Fill, FillRole, MatchType } from "../market/fill.ts";
import {
  decimalLiteral,
  hexLiteral,
  integerLiteral,
  listLiteral,
  wordLiteral,
} from "./sql-literal.ts";

/** Absent means any. All present conditions must hold. */
export type FillFilter = {
  readonly roles?: readonly FillRole[];
  /** Any of these tokens; with a side, only trades of that side on that token. */
  readonly tokens?: readonly { readonly tokenId: TokenId; readonly side?: Side }[];
  readonly side?: Side;
  readonly sizeMin?: bigint;
  readonly sizeMax?: bigint;
  readonly valueMin?: bigint;
  readonly maker?: Address;
  readonly taker?: Address;
  /** Either side of the trade. */
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
  const { seqFrom, seqTo, timestampFrom, timestampTo, txHash, roles, exchange } = filter;
  return present([
    given(seqFrom, (seq) => ({
      sql: `seq >= ${integerLiteral(seq)}`,
      holds: (fill) => fill.seq >= seq,
    })),
    given(seqTo, (seq) => ({
      sql: `seq < ${integerLiteral(seq)}`,
      holds: (fill) => fill.seq < seq,
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
  const { tokens, maker, taker, wallet, orderHash } = filter;
  return present([
    given(tokens, tokensCondition),
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

function amountConditions(filter: FillFilter): Condition[] {
  const { side, matchType, sizeMin, sizeMax, valueMin } = filter;
  return present([
    given(side, (wanted) => ({
      sql: `side = ${wordLiteral(wanted)}`,
      holds: (fill) => fill.side === wanted,
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
      sql: `value >= ${decimalLiteral(micros)}`,
      holds: (fill) => fill.value >= micros,
    })),
  ]);
}

function tokensCondition(tokens: NonNullable<FillFilter["tokens"]>): Condition {
  if (tokens.length === 0) return nothing;
  const anySide = new Set(tokens.filter((t) => t.side === undefined).map((t) => t.tokenId));
  const oneSided = tokens.filter((token) => token.side !== undefined);
  const ids = tokens.map((token) => hexLiteral(token.tokenId));
  // The list stands alone in front, so that the key by token is used whatever the sides are.
  const sided = oneSided.map(
    ({ tokenId, side = "BUY" }) =>
      `token_id = ${hexLiteral(tokenId)} AND side = ${wordLiteral(side)}`,
  );
  const either = [...sided, ...[...anySide].map((id) => `token_id = ${hexLiteral(id)}`)];
  const sides = oneSided.length === 0 ? "" : ` AND (${either.join(" OR ")})`;
  return {
    sql: `token_id IN ${listLiteral(ids)}${sides}`,
    holds: (fill) =>
      anySide.has(fill.tokenId) ||
      oneSided.some((token) => token.tokenId === fill.tokenId && token.side === fill.side),
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
