/** Converts a match of the book to the call that settles it on an exchange. */

import { type Address, keccak256, stringToBytes, zeroHash } from "viem";
import type { TokenId } from "../src/base/ids.ts";
import { addresses, operator, type Venue } from "./addresses.ts";
import { encodeCall } from "./artifacts.ts";
import type { Transaction } from "./demo-chain.ts";
import type { Order } from "./order-book.ts";
import type { Match } from "./traders.ts";

/** The venue, the tokens and the fee of a question. */
export type Terms = {
  readonly venue: Venue;
  readonly conditionId: string;
  readonly tokenIds: readonly [TokenId, TokenId];
  /** The fee of takers, in basis points of shares x price x (1 - price); 0 for none. */
  readonly feeRateBps: number;
};

/** The fee rate that orders of generation 1 are signed with if there is a fee. */
const signedFeeRateBps = 1000;

const builders = [zeroHash, zeroHash, keccak256(stringToBytes("oddwire demo builder"))] as const;

/** Returns the call that settles a match. */
export function settle({ taker, fills }: Match, terms: Terms): Transaction {
  const units = fills.reduce((sum, fill) => sum + fill.units, 0);
  const matched = {
    taker: encodable(taker, terms),
    makers: fills.map((fill) => encodable(fill.order, terms)),
    takerFill: getMaking(taker, units),
    makerFills: fills.map((fill) => getMaking(fill.order, fill.units)),
  };
  const to = terms.venue.entry;
  if (terms.venue.generation === 1) {
    // The fee that remains after the refund is about the fee of the schedule.
    const keptBps = BigInt(Math.round((terms.feeRateBps / signedFeeRateBps) * 10_000));
    const data = encodeCall("FeeModule", "matchOrders", [matched, keptBps]);
    return { from: operator, to, data };
  }
  const { conditionId } = terms;
  const takerFee = getTakerFee(taker, units, terms.feeRateBps);
  const makerFees = fills.map(() => 0n);
  const full = { ...matched, conditionId, takerFee, makerFees };
  return { from: operator, to, data: encodeCall("ExchangeV2", "matchOrders", [full]) };
}

/** Returns the call by which an owner splits collateral into shares of both outcomes. */
export function split(owner: Address, units: number, { venue, conditionId }: Terms): Transaction {
  const args = [addresses.collateral, conditionId, sharesMicros(units), [owner]];
  const data = encodeCall("ConditionalTokens", "splitPosition", args);
  return { from: owner, to: venue.minter, data };
}

/** Returns the call by which an owner cancels an order on the chain; generation 1 only. */
export function cancel(order: Order, terms: Terms): Transaction {
  const data = encodeCall("ExchangeV1", "cancelOrder", [encodable(order, terms)]);
  return { from: order.owner, to: terms.venue.exchange, data };
}

/** Returns an order with the fields of both generations. Each contract takes the fields it has. */
function encodable(order: Order, { tokenIds, feeRateBps }: Terms) {
  return {
    salt: BigInt(order.salt),
    maker: order.owner,
    tokenId: BigInt(tokenIds[order.outcome]),
    makerAmount: getMaking(order, order.units),
    takerAmount: order.side === "BUY" ? sharesMicros(order.units) : cashMicros(order, order.units),
    feeRateBps: BigInt(feeRateBps === 0 ? 0 : signedFeeRateBps),
    side: order.side === "BUY" ? 0 : 1,
    metadata: zeroHash,
    builder: builders[order.salt % builders.length],
  };
}

function getMaking(order: Order, units: number): bigint {
  return order.side === "BUY" ? cashMicros(order, units) : sharesMicros(units);
}

function sharesMicros(units: number): bigint {
  return BigInt(units) * 10_000n;
}

function cashMicros(order: Order, units: number): bigint {
  return BigInt(units) * BigInt(order.priceMilli) * 10n;
}

/** Returns the fee in millionths of a dollar, truncated to 5 decimals as the venue does. */
function getTakerFee({ priceMilli }: Order, units: number, rateBps: number): bigint {
  const spread = BigInt(priceMilli) * BigInt(1000 - priceMilli);
  const fee = (sharesMicros(units) * spread * BigInt(rateBps)) / (1_000_000n * 10_000n);
  return fee - (fee % 10n);
}
