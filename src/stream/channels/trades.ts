import type { TokenId } from "../../base/ids.ts";
import { mapYielding } from "../../base/time/turns.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import type { Fill } from "../../market/fill.ts";
import { getAllTokens } from "../../market/market.ts";
import { type FillFilter, toFillCondition } from "../../query/fill-filter.ts";
import { joinTokens } from "../../query/markets/read-markets.ts";
import { readFills } from "../../query/read-fills.ts";
import { getRowContext } from "../../query/row-context.ts";
import { idFields } from "../../rows/trade-row.ts";
import { tradeWriter } from "../../rows/trade-writer.ts";
import type { ChannelRequest } from "../frames/client-frame.ts";
import type { ChannelLog, Entry, Opening, StreamSources } from "../hub/channel.ts";

/**
 * Opens the `trades` channel: all trades; or the `token_trades` channel: the trades of some tokens, with those of their
 * mirrors if requested, without inverted trades of the complements.
 */
export function openTrades({ request, sources, tokenIds: requested }: Opening): ChannelLog {
  const { directory } = sources.state;
  const { include_mirror: mirror = false } = request;
  const getSame = (tokenId: TokenId) =>
    joinTokens(directory, tokenId, { complement: false, mirror }).same;
  // A mirror can become known later.
  const getTokens = () => {
    if (requested.length === 0) return null;
    return mirror ? [...new Set(requested.flatMap(getSame))] : requested;
  };
  const filter = () => getFillFilter(request, getTokens(), sources);
  const toTrades = (block: BlockFacts) => block.fills.filter(toFillCondition(filter()).holds);
  return {
    event: "trade",
    interest: () => ({ tokenIds: getTokens() ?? "all", events: false }),
    toEntries: (block) => toTrades(block).map(entryWriter(sources)),
    read: async (page) => {
      const list = { ...page, filter: filter(), tokens: directory };
      const fills = await readFills(sources.facts, list);
      return mapYielding(fills, entryWriter(sources));
    },
    revertedBy: (removed) => removed.flatMap(toTrades).map((fill) => idFields(fill).id),
  };
}

/** Builds the filter for every read, because the tokens of a condition can become known later. */
function getFillFilter(
  { filter = {} }: ChannelRequest,
  filtered: readonly TokenId[] | null,
  { state }: StreamSources,
): FillFilter {
  const { side, min_value, wallet, condition_id } = filter;
  let tokenIds = filtered;
  if (condition_id !== undefined) {
    const market = state.directory.market(condition_id);
    const ofCondition = market === null ? [] : getAllTokens(market).map((one) => one.tokenId);
    tokenIds = filtered === null ? ofCondition : ofCondition.filter((id) => filtered.includes(id));
  }
  const roles = ["maker", "direct"] as const;
  return { roles, tokenIds: tokenIds ?? undefined, side, valueMin: min_value, wallet };
}

function entryWriter(sources: StreamSources): (fill: Fill) => Entry {
  const write = tradeWriter(getRowContext(sources));
  return (fill) => ({ seq: fill.seq, json: write(fill) });
}
