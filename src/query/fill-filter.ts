/** Filters of fills. A test compares the two forms of a filter (SQL and predicate) on generated rows. */
import { priceMicros } from "../base/decimal.ts";
import type { Address, Hash, Seq, TokenId } from "../base/ids.ts";
import type { ExchangeName } from "../contracts/contracts.ts";
import type { Side } from "../contracts/events.ts";
import { type Fill, type FillRole, getCash, type MatchType } from "../market/fill.ts";
import { invertFill } from "../market/invert.ts";
import { decimalLiteral, hexLiteral, integerLiteral, wordLiteral } from "../storage/sql-literal.ts";
import {
  type Condition,
  type Conditions,
  is,
  isAmong,
  isIn,
  joinConditions,
  type RangeFilter,
  rangeConditions,
} from "./condition.ts";

/** A filter of fills. An absent field matches every fill; all present fields must match. */
export type FillFilter = RangeFilter & {
  readonly roles?: readonly FillRole[] | undefined;
  readonly tokenIds?: readonly TokenId[] | undefined;
  /** Trades of these tokens are inverted to their complements before side, value and price are compared. */
  readonly invertedTokenIds?: readonly TokenId[] | undefined;
  readonly side?: Side | undefined;
  /** The tokens of the maker's order. In a mint or a merge this is the other token of the pair. */
  readonly makerTokenIds?: readonly TokenId[] | undefined;
  readonly makerSide?: Side | undefined;
  /** The collateral that the maker's order paid or received, in micros. */
  readonly makerValueMin?: bigint | undefined;
  /** The builder code of the maker's order. */
  readonly builder?: Hash | undefined;
  readonly sizeMin?: bigint | undefined;
  readonly sizeMax?: bigint | undefined;
  readonly valueMin?: bigint | undefined;
  /** Inclusive bounds of the rounded price, in micros. A fill without a price is outside them. */
  readonly priceMin?: bigint | undefined;
  readonly priceMax?: bigint | undefined;
  readonly maker?: Address | undefined;
  readonly taker?: Address | undefined;
  readonly wallet?: Address | undefined;
  readonly exchange?: ExchangeName | undefined;
  readonly matchType?: MatchType | undefined;
  readonly orderHash?: Hash | undefined;
  /** Inclusive. Compared with the position of a fill's match, or with its own position when it has no match. */
  readonly matchSeqFrom?: Seq | undefined;
};

/** Returns the condition for a fill to pass a filter. */
export function toFillCondition({ invertedTokenIds = [], ...filter }: FillFilter): Condition<Fill> {
  return joinConditions({ ...fillConditions, ...publicConditions(invertedTokenIds) }, filter);
}

/** Fields that inversion changes. */
type PublicFilter = Pick<FillFilter, "side" | "valueMin" | "priceMin" | "priceMax">;

type StoredFilter = Omit<FillFilter, "invertedTokenIds" | keyof PublicFilter>;

const fillConditions: Conditions<StoredFilter, Fill> = {
  ...rangeConditions,
  matchSeqFrom: (from) => ({
    sql: `if(match_seq = 0, seq, match_seq) >= ${integerLiteral(from)}`,
    holds: (fill) => (fill.matchSeq ?? fill.seq) >= from,
  }),
  roles: isAmong("role", wordLiteral, (fill) => fill.role),
  exchange: is("exchange", wordLiteral, (fill) => fill.exchange.exchange),
  tokenIds: isAmong("token_id", hexLiteral, (fill) => fill.tokenId),
  makerTokenIds: isAmong("maker_token_id", hexLiteral, (fill) => fill.makerTokenId),
  makerSide: is("maker_side", wordLiteral, (fill) => fill.makerSide),
  makerValueMin: (micros) => ({
    sql: `if(maker_side = 'BUY', maker_amount, taker_amount) >= toInt256('${micros}')`,
    holds: (fill) => getCash(fill) >= micros,
  }),
  maker: is("maker", hexLiteral, (fill) => fill.maker),
  taker: is("taker", hexLiteral, (fill) => fill.taker),
  wallet: (address) => ({
    sql: `(maker = ${hexLiteral(address)} OR taker = ${hexLiteral(address)})`,
    holds: (fill) => fill.maker === address || fill.taker === address,
  }),
  builder: is("builder", hexLiteral, (fill) => fill.builder),
  orderHash: is("order_hash", hexLiteral, (fill) => fill.orderHash),
  matchType: is("match_type", wordLiteral, (fill) => fill.matchType),
  sizeMin: (micros) => ({
    sql: `size >= ${decimalLiteral(micros)}`,
    holds: (fill) => fill.size >= micros,
  }),
  sizeMax: (micros) => ({
    sql: `size <= ${decimalLiteral(micros)}`,
    holds: (fill) => fill.size <= micros,
  }),
};

/** Returns the conditions on side, value and price as clients see them: inverted for trades of the inverted tokens. */
function publicConditions(inverted: readonly TokenId[]): Conditions<PublicFilter, Fill> {
  const sql = publicSql(inverted);
  const toPublic = (fill: Fill) =>
    inverted.includes(fill.tokenId) ? invertFill(fill, fill.tokenId) : fill;
  const hasPrice = (fill: Fill, isWithin: (price: bigint) => boolean): boolean => {
    const price = priceMicros(toPublic(fill).value, fill.size);
    return price !== null && isWithin(price);
  };
  return {
    side: (side) => ({
      sql: `${sql.side} = ${wordLiteral(side)}`,
      holds: (fill) => toPublic(fill).side === side,
    }),
    valueMin: (micros) => ({
      sql: `${sql.value} >= ${decimalLiteral(micros)}`,
      holds: (fill) => toPublic(fill).value >= micros,
    }),
    priceMin: (micros) => ({
      sql: priceSql(sql.value, micros % 2n === 0n ? ">=" : ">", 2n * micros - 1n),
      holds: (fill) => hasPrice(fill, (price) => price >= micros),
    }),
    priceMax: (micros) => ({
      sql: priceSql(sql.value, micros % 2n === 0n ? "<=" : "<", 2n * micros + 1n),
      holds: (fill) => hasPrice(fill, (price) => price <= micros),
    }),
  };
}

/** Returns SQL that compares the exact price with a number of half micros. Ties round to even, as in `priceMicros`. */
function priceSql(value: string, operator: string, halfMicros: bigint): string {
  const sides = `toDecimal256(${value}, 6) * 2000000 ${operator} toDecimal256(size, 6) * toInt256('${halfMicros}')`;
  return `(size > 0 AND ${sides})`;
}

/** Returns SQL for the side and value of a fill, inverted as by `invertFill` for the inverted tokens. */
export function publicSql(inverted: readonly TokenId[]): {
  readonly side: string;
  readonly value: string;
} {
  if (inverted.length === 0) return { side: "side", value: "value" };
  const isInverted = isIn("token_id", inverted.map(hexLiteral));
  return {
    side: `if(${isInverted}, if(side = 'BUY', 'SELL', 'BUY'), toString(side))`,
    value: `if(${isInverted}, size - value, value)`,
  };
}
