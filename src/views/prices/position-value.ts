/** Looks up what a position is worth now, and whether all of it is known. */
import type { TokenId } from "../../base/ids.ts";
import type { Position, Settlement } from "../../market/ledger/position.ts";
import {
  type Fraction,
  getStatus,
  getUnrealized,
  type ValuedPosition,
  valueShares,
} from "../../market/ledger/valued-position.ts";
import type { Conditions } from "../markets/conditions.ts";
import { joinedNewestTrade, type NewestTrade, newestTrade } from "./token-price.ts";

type Holdings = {
  readonly directory: Conditions;
  readonly shares: ReadonlyMap<TokenId, bigint>;
};

/** Returns the result of a token's market; `null` while it has none. */
export function getSettlement(tokenId: TokenId, directory: Conditions): Settlement | null {
  const slot = directory.getSlot(tokenId);
  const resolution = slot === null ? null : directory.getResolution(slot.conditionId);
  const numerator = resolution?.numerators[slot?.outcomeIndex ?? -1];
  if (resolution === null || numerator === undefined) return null;
  const sum = resolution.numerators.reduce((total, one) => total + one, 0n);
  return { seq: resolution.seq, timestamp: resolution.timestamp, numerator, sum };
}

/** Values a position. `shares` are those of all tokens of the wallet. */
export function valuePosition(position: Position, { directory, shares }: Holdings): ValuedPosition {
  const { tokenId } = position;
  const payout = getPayout(tokenId, directory);
  const price = getExactPrice(tokenId, directory);
  const complement = directory.getComplement(tokenId);
  const other = complement === null ? 0n : (shares.get(complement) ?? 0n);
  return {
    ...position,
    isComplete: directory.isCompleteToken(tokenId),
    price,
    payout,
    value: valueShares(position.shares, price),
    unrealized: getUnrealized(position, price),
    status: getStatus(position, payout),
    mergeable: payout !== null ? 0n : other < position.shares ? other : position.shares,
  };
}

/** The exact payout of a token; `null` while its market has no result. */
export function getPayout(tokenId: TokenId, directory: Conditions): Fraction | null {
  const settlement = getSettlement(tokenId, directory);
  return settlement && { numerator: settlement.numerator, denominator: settlement.sum };
}

/** The exact price of a token: its payout, or the newest trade of its pair. */
export function getExactPrice(tokenId: TokenId, directory: Conditions): Fraction | null {
  return getPayout(tokenId, directory) ?? toFraction(newestTrade(tokenId, directory));
}

/** The exact price of an outcome by its tokens, one on each ledger: the first payout, or the newest trade. */
export function getJoinedPrice(
  tokenIds: readonly TokenId[],
  directory: Conditions,
): Fraction | null {
  const settled = tokenIds.flatMap((id) => getSettlement(id, directory) ?? []);
  const [first] = settled.toSorted((one, other) => one.seq - other.seq);
  if (first !== undefined) return { numerator: first.numerator, denominator: first.sum };
  return toFraction(joinedNewestTrade(tokenIds, directory));
}

function toFraction(newest: NewestTrade | null): Fraction | null {
  if (newest === null) return null;
  const { size, value } = newest.trade;
  return { numerator: newest.isOwn ? value : size - value, denominator: size };
}
