/** Looks up what a position is worth now, and whether all of it is known. */
import type { TokenId } from "../../base/ids.ts";
import { parseGen3TokenId } from "../../market/ids/gen3-ids.ts";
import type { Position, Settlement } from "../../market/ledger/position.ts";
import {
  type Fraction,
  getStatus,
  getUnrealized,
  type ValuedPosition,
  valueShares,
} from "../../market/ledger/valued-position.ts";
import type { IndexedFacts } from "../indexed-facts.ts";
import type { MarketDirectory } from "../markets/market-directory.ts";
import { joinedNewestTrade, type NewestTrade, newestTrade } from "./token-price.ts";

type Sources = { readonly facts: IndexedFacts; readonly directory: MarketDirectory };

type Holdings = Sources & { readonly shares: ReadonlyMap<TokenId, bigint> };

/** Returns the result of a token's market; `null` while it has none. */
export function getSettlement(tokenId: TokenId, directory: MarketDirectory): Settlement | null {
  const slot = directory.getSlot(tokenId);
  const resolution = slot === null ? null : directory.getResolution(slot.conditionId);
  const numerator = resolution?.numerators[slot?.outcomeIndex ?? -1];
  if (resolution === null || numerator === undefined) return null;
  const sum = resolution.numerators.reduce((total, one) => total + one, 0n);
  return { seq: resolution.seq, timestamp: resolution.timestamp, numerator, sum };
}

/** Values a position. `shares` are those of all tokens of the wallet. */
export function valuePosition(
  position: Position,
  { facts, directory, shares }: Holdings,
): ValuedPosition {
  const { tokenId } = position;
  const payout = getPayout(tokenId, directory);
  const price = getExactPrice(tokenId, directory);
  const complement = directory.getComplement(tokenId);
  const other = complement === null ? 0n : (shares.get(complement) ?? 0n);
  return {
    ...position,
    isComplete: isCompleteToken(tokenId, { facts, directory }),
    price,
    payout,
    value: valueShares(position.shares, price),
    unrealized: getUnrealized(position, price),
    status: getStatus(position, payout),
    mergeable: payout !== null ? 0n : other < position.shares ? other : position.shares,
  };
}

function getPayout(tokenId: TokenId, directory: MarketDirectory): Fraction | null {
  const settlement = getSettlement(tokenId, directory);
  return settlement && { numerator: settlement.numerator, denominator: settlement.sum };
}

/** The exact price of a token: its payout, or the newest trade of its pair. */
export function getExactPrice(tokenId: TokenId, directory: MarketDirectory): Fraction | null {
  return getPayout(tokenId, directory) ?? toFraction(newestTrade(tokenId, directory));
}

/** The exact price of an outcome by its tokens, one on each ledger: the first payout, or the newest trade. */
export function getJoinedPrice(
  tokenIds: readonly TokenId[],
  directory: MarketDirectory,
): Fraction | null {
  const settled = tokenIds.flatMap((id) => getSettlement(id, directory) ?? []);
  const [first] = settled.toSorted((one, other) => one.seq - other.seq);
  if (first !== undefined) return { numerator: first.numerator, denominator: first.sum };
  return toFraction(joinedNewestTrade(tokenIds, directory));
}

/** Whether every transfer of a token is indexed: all of its contract are, or its market was made within the coverage. */
export function isCompleteToken(tokenId: TokenId, { facts, directory }: Sources): boolean {
  const first = facts.coverage?.fromBlock ?? facts.headBuffer.blocks[0]?.number ?? 0;
  const kind = parseGen3TokenId(tokenId) === null ? "conditional_tokens" : "position_manager";
  const contracts = directory.contracts.byAddress.values();
  const since = contracts.filter((contract) => contract.kind === kind).map((one) => one.startBlock);
  return first <= Math.min(...since) || directory.isBornCovered(tokenId);
}

function toFraction(newest: NewestTrade | null): Fraction | null {
  if (newest === null) return null;
  const { size, value } = newest.trade;
  return { numerator: newest.isOwn ? value : size - value, denominator: size };
}
