/** Which fills are asked for. A test compares the two readings of a filter on generated rows. */
import type { Address, Hash, Seq, TokenId } from "../base/ids.ts";
import type { ExchangeName } from "../contracts/contracts.ts";
import type { Side } from "../contracts/events.ts";
import type { Fill, FillRole, MatchType } from "../market/fill.ts";
import { invertedSql, invertFill } from "../market/invert.ts";
import { decimalLiteral, hexLiteral, integerLiteral, wordLiteral } from "../storage/sql-literal.ts";
import {
  allOf,
  type Condition,
  type Conditions,
  isIn,
  type PlaceFilter,
  placeConditions,
} from "./condition.ts";

/** Absent means any. All present conditions must hold. */
export type FillFilter = PlaceFilter & {
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
  readonly orderHash?: Hash;
  /** Inclusive; the position of the match that a fill is part of, where it is part of one. */
  readonly matchSeqFrom?: Seq;
};

/** The conditions of a filter joined for a `WHERE`. */
export function filterSql(filter: FillFilter): string {
  return conditionOf(filter).sql;
}

/** Whether a fill passes the filter. */
export function filterHolds(filter: FillFilter): (fill: Fill) => boolean {
  return conditionOf(filter).holds;
}

function conditionOf({ invertedTokenId, ...filter }: FillFilter): Condition<Fill> {
  return allOf({ ...fillConditions, ...shownConditions(invertedTokenId) }, filter);
}

type OwnFilter = Omit<FillFilter, "invertedTokenId" | "side" | "valueMin">;

const fillConditions: Conditions<OwnFilter, Fill> = {
  ...placeConditions,
  matchSeqFrom: (from) => ({
    sql: `if(match_seq = 0, seq, match_seq) >= ${integerLiteral(from)}`,
    holds: (fill) => (fill.matchSeq ?? fill.seq) >= from,
  }),
  roles: (roles) => ({
    sql: isIn("role", roles.map(wordLiteral)),
    holds: (fill) => roles.includes(fill.role),
  }),
  exchange: (name) => ({
    sql: `exchange = ${wordLiteral(name)}`,
    holds: (fill) => fill.exchange.exchange === name,
  }),
  tokenIds: (ids) => ({
    sql: isIn("token_id", ids.map(hexLiteral)),
    holds: (fill) => ids.includes(fill.tokenId),
  }),
  makerTokenIds: (ids) => ({
    sql: isIn("maker_token_id", ids.map(hexLiteral)),
    holds: (fill) => ids.includes(fill.makerTokenId),
  }),
  makerSide: (side) => ({
    sql: `maker_side = ${wordLiteral(side)}`,
    holds: (fill) => fill.makerSide === side,
  }),
  maker: (address) => ({
    sql: `maker = ${hexLiteral(address)}`,
    holds: (fill) => fill.maker === address,
  }),
  taker: (address) => ({
    sql: `taker = ${hexLiteral(address)}`,
    holds: (fill) => fill.taker === address,
  }),
  wallet: (address) => ({
    sql: `(maker = ${hexLiteral(address)} OR taker = ${hexLiteral(address)})`,
    holds: (fill) => fill.maker === address || fill.taker === address,
  }),
  orderHash: (hash) => ({
    sql: `order_hash = ${hexLiteral(hash)}`,
    holds: (fill) => fill.orderHash === hash,
  }),
  matchType: (type) => ({
    sql: `match_type = ${wordLiteral(type)}`,
    holds: (fill) => fill.matchType === type,
  }),
  sizeMin: (micros) => ({
    sql: `size >= ${decimalLiteral(micros)}`,
    holds: (fill) => fill.size >= micros,
  }),
  sizeMax: (micros) => ({
    sql: `size <= ${decimalLiteral(micros)}`,
    holds: (fill) => fill.size <= micros,
  }),
};

/** The conditions of side and value as clients are sent them: turned around for the inverted token. */
function shownConditions(
  inverted: TokenId | undefined,
): Conditions<Pick<FillFilter, "side" | "valueMin">, Fill> {
  const sql =
    inverted === undefined
      ? { side: "side", value: "value" }
      : invertedSql(`token_id = ${hexLiteral(inverted)}`);
  const shown = (fill: Fill) =>
    inverted !== undefined && fill.tokenId === inverted ? invertFill(fill, inverted) : fill;
  return {
    side: (side) => ({
      sql: `${sql.side} = ${wordLiteral(side)}`,
      holds: (fill) => shown(fill).side === side,
    }),
    valueMin: (micros) => ({
      sql: `${sql.value} >= ${decimalLiteral(micros)}`,
      holds: (fill) => shown(fill).value >= micros,
    }),
  };
}
