import type { ConditionId, TokenId } from "../../base/ids.ts";
import {
  getCollateral,
  getOutcomeSupplies,
  groupByOutcome,
} from "../../market/ledger/circulating-shares.ts";
import { getAllTokens } from "../../market/market.ts";
import { requireWallets } from "../../query/wallets/require-wallets.ts";
import { toMarketInterestRow } from "../../rows/wallets/open-interest-row.ts";
import { getOpenInterest } from "../../views/prices/market-interest.ts";
import { joinedNewestTrade } from "../../views/prices/token-price.ts";
import type { ChannelLog, Entry, Opening } from "../hub/channel.ts";

/**
 * Opens the `open_interest` channel: the supply and open interest of some markets, sent after every block that changes
 * them. Throws `NOT_FOUND` when wallets are not indexed.
 */
export function openOpenInterest({ sources, conditionIds }: Opening): ChannelLog {
  const { directory } = sources.state;
  requireWallets(directory.contracts);
  const getTokens = (): readonly TokenId[] =>
    conditionIds.flatMap((id) => directory.getTokenIds(id));
  const toEntry = (conditionId: ConditionId): Entry | null => {
    const market = directory.market(conditionId);
    if (market === null) return null;
    const tokenIds = getAllTokens(market).map(({ tokenId }) => tokenId);
    const changes = tokenIds.map((id) => directory.getSupply(id).seq);
    const traded = joinedNewestTrade(tokenIds, directory)?.trade.seq ?? -1;
    // Tokens can move and trade before a log says of which market they are.
    const seq = Math.max(...changes, traded, directory.getDefinitionSeq(conditionId));
    const supplies = new Map(tokenIds.map((id) => [id, directory.getSupply(id)]));
    const isComplete = tokenIds.every((id) => directory.isCompleteToken(id));
    const row = toMarketInterestRow({
      conditionId: market.conditionId,
      supply: isComplete ? getOutcomeSupplies(market, supplies) : null,
      openInterest: getOpenInterest(groupByOutcome(market), directory),
      collateral: isComplete ? getCollateral(market, supplies, market.resolution) : null,
    });
    return { seq, json: JSON.stringify(row) };
  };
  const toEntries = (after: number): readonly Entry[] =>
    // A market and its mirror can both be requested.
    [...new Set(conditionIds.map((id) => directory.getMarketId(id)))]
      .flatMap((id) => toEntry(id) ?? [])
      .filter(({ seq }) => seq > after)
      .toSorted((one, other) => one.seq - other.seq);
  return {
    event: "open_interest",
    interest: () => ({ tokenIds: getTokens(), events: true, supplies: getTokens() }),
    read: async ({ order, after, limit, restate }) => {
      if (order === "desc") return toEntries(-1).slice(-limit).toReversed();
      return toEntries(restate ? -1 : (after ?? -1));
    },
    // A reorg removes no market. Changed figures are sent again.
    revertedBy: () => [],
  };
}
