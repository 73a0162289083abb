import type { TokenId } from "../../base/ids.ts";
import { presentPrice } from "../../rows/price-row.ts";
import { newestTradePrice, pairPrice } from "../../views/prices/token-price.ts";
import type { ChannelRequest } from "../frames/frame-fields.ts";
import type { Channel, Entry, StreamSources } from "../hub/channel.ts";
import { checkRequest, requestedTokens, shownTokens } from "../hub/channel-request.ts";

/** Opens the `price` channel: the price of each token, sent after every block that changes it. */
export function openPrices(request: ChannelRequest, sources: StreamSources): Channel {
  checkRequest(request, { fields: ["token_id", "token_ids"], filters: [] });
  const tokenIds = requestedTokens(request);
  const { directory } = sources.state;
  const seqOf = (tokenId: TokenId): number => {
    const traded = newestTradePrice(tokenId, directory)?.seq ?? -1;
    return Math.max(traded, pairPrice(tokenId, directory)?.seq ?? -1);
  };
  const entriesOf = (wanted: readonly TokenId[]): readonly Entry[] => {
    const entries = wanted.flatMap((tokenId) => {
      const row = presentPrice(tokenId, sources);
      return row === null ? [] : [{ seq: seqOf(tokenId), json: JSON.stringify(row) }];
    });
    return entries.toSorted((a, b) => a.seq - b.seq);
  };
  return {
    event: "price",
    normalizedRequest: { type: "price", ...shownTokens(tokenIds) },
    isFinalOnly: false,
    get interest() {
      return { tokenIds: tokenIds.flatMap((tokenId) => directory.pairOf(tokenId)), events: true };
    },
    readAfter: async (after, { restate }) =>
      entriesOf(tokenIds.filter((tokenId) => restate || seqOf(tokenId) > after)),
    readNewest: async (_through, count) => entriesOf(tokenIds).slice(-count),
    // A reorg removes no price. Changed prices are sent again.
    revertedBy: () => [],
  };
}
