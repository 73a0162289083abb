import type { TokenId } from "../../base/ids.ts";
import { joinTokens } from "../../query/markets/read-markets.ts";
import { getPriceRow } from "../../query/markets/read-price.ts";
import { joinedNewestTrade, joinedPrice } from "../../views/prices/token-price.ts";
import type { ChannelLog, Entry, Opening } from "../hub/channel.ts";

/**
 * Opens the `price` channel: the price of each token, on its ledger or both, sent after every block that changes it.
 */
export function openPrices({ request, sources, tokenIds }: Opening): ChannelLog {
  const { directory } = sources.state;
  const { include_mirror: mirror = false } = request;
  const joinNow = (tokenId: TokenId) =>
    joinTokens(directory, tokenId, { complement: true, mirror });
  const toSeq = (tokenId: TokenId): number => {
    const { same } = joinNow(tokenId);
    const traded = joinedNewestTrade(same, directory)?.trade.seq ?? -1;
    const priced = joinedPrice(same, directory)?.seq ?? -1;
    const conditionId = directory.getSlot(tokenId)?.conditionId;
    // The complement, which may have the price, can become known later.
    const isKnown = conditionId !== undefined && (traded !== -1 || priced !== -1);
    return Math.max(traded, priced, isKnown ? directory.getDefinitionSeq(conditionId) : -1);
  };
  const toEntries = (requested: readonly TokenId[]): readonly Entry[] => {
    const entries = requested.flatMap((tokenId) => {
      const row = getPriceRow(tokenId, sources, joinNow(tokenId).same);
      return row === null ? [] : [{ seq: toSeq(tokenId), json: JSON.stringify(row) }];
    });
    return entries.toSorted((a, b) => a.seq - b.seq);
  };
  return {
    event: "price",
    interest: () => ({
      tokenIds: tokenIds.flatMap((tokenId) => Object.values(joinNow(tokenId)).flat()),
      events: true,
    }),
    read: async ({ order, after, limit, restate }) => {
      if (order === "desc") return toEntries(tokenIds).slice(-limit).toReversed();
      return toEntries(tokenIds.filter((id) => restate || toSeq(id) > (after ?? -1)));
    },
    // A reorg removes no price. Changed prices are sent again.
    revertedBy: () => [],
  };
}
