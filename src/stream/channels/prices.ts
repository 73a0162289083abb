import type { TokenId } from "../../base/ids.ts";
import { getPriceRow } from "../../query/markets/read-price.ts";
import { newestTrade, pairPrice } from "../../views/prices/token-price.ts";
import type { ChannelLog, Entry, Opening } from "../hub/channel.ts";

/** Opens the `price` channel: the price of each token, sent after every block that changes it. */
export function openPrices({ sources, tokenIds }: Opening): ChannelLog {
  const { directory } = sources.state;
  const toSeq = (tokenId: TokenId): number => {
    const traded = newestTrade(tokenId, directory)?.trade.seq ?? -1;
    return Math.max(traded, pairPrice(tokenId, directory)?.seq ?? -1);
  };
  const toEntries = (requested: readonly TokenId[]): readonly Entry[] => {
    const entries = requested.flatMap((tokenId) => {
      const row = getPriceRow(tokenId, sources);
      return row === null ? [] : [{ seq: toSeq(tokenId), json: JSON.stringify(row) }];
    });
    return entries.toSorted((a, b) => a.seq - b.seq);
  };
  return {
    event: "price",
    interest: () => ({
      tokenIds: tokenIds.flatMap((tokenId) => directory.getPair(tokenId)),
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
