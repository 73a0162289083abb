/** Filters of fills. A test compares the two forms of a filter (SQL and predicate) on generated rows. */
import type { Address, Hash, Seq, TokenId } from "../base/ids.ts";
import type { ExchangeName } from "../contracts/contracts.ts";
import type { Side } from "../contracts/events.ts";
import { type Fill, type FillRole, getCash, type MatchType } from "../market/fill.ts";
import { invertFill } from "../market/invert.ts";
import { decimalLiteral, hexLiteral, integerLiteral, wordLiteral } from "../storage/sql-literal.ts";
import {
  allOf,
  type Condition,
  type Conditions,
  is,
  isAmong,
  isIn,
  type PlaceFilter,
  placeConditions,
} from "./condition.ts";

/** A filter of fills. An absent field matches every fill; all present fields must match. */
export type FillFilter = PlaceFilter & {
  readonly roles?: readonly FillRole[] | undefined;
  readonly tokenIds?: readonly TokenId[] | undefined;
  /** Trades of these tokens are inverted to their complements before `side` and `valueMin` are compared. */
  readonly invertedTokenIds?: readonly TokenId[] | undefined;
  readonly side?: Side | undefined;
  /** The tokens of the maker's order. In a mint or a merge this is the other token of the pair. */
  readonly makerTokenIds?: readonly TokenId[] | undefined;
  readonly makerSide?: Side | undefined;
  /** The collateral that the maker's order paid or received, in micros. */
  readonly makerValueMin?: bigint | undefined;
  readonly sizeMin?: bigint | undefined;
  readonly sizeMax?: bigint | undefined;
  readonly valueMin?: bigint | undefined;
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
export function fillCondition({ invertedTokenIds = [], ...filter }: FillFilter): Condition<Fill> {
  return allOf({ ...fillConditions, ...publicConditions(invertedTokenIds) }, filter);
}

type OwnFilter = Omit<FillFilter, "invertedTokenIds" | "side" | "valueMin">;

const fillConditions: Conditions<OwnFilter, Fill> = {
  ...placeConditions,
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

/** Returns the conditions on side and value as clients see them: inverted for trades of the inverted tokens. */
function publicConditions(
  inverted: readonly TokenId[],
): Conditions<Pick<FillFilter, "side" | "valueMin">, Fill> {
  const sql =
    inverted.length === 0
      ? { side: "side", value: "value" }
      : invertedSql(isIn("token_id", inverted.map(hexLiteral)));
  const shown = (fill: Fill) =>
    inverted.includes(fill.tokenId) ? invertFill(fill, fill.tokenId) : fill;
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

/** Returns SQL for the side and value of a fill, inverted as by `invertFill` where the condition `isInverted` holds. */
function invertedSql(isInverted: string): { readonly side: string; readonly value: string } {
  return {
    side: `if(${isInverted}, if(side = 'BUY', 'SELL', 'BUY'), toString(side))`,
    value: `if(${isInverted}, size - value, value)`,
  };
}
