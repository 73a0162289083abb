import type { TokenId } from "../../base/ids.ts";
import { mapInTurns } from "../../base/time/turns.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import type { Fill } from "../../market/fill.ts";
import { type FillFilter, fillCondition } from "../../query/fill-filter.ts";
import { readFills } from "../../query/read-fills.ts";
import { rowContextOf } from "../../query/row-context.ts";
import { idFields } from "../../rows/trade-row.ts";
import { tradeWriter } from "../../rows/trade-writer.ts";
import type { ChannelRequest } from "../frames/frame-fields.ts";
import {
  type Channel,
  type Entry,
  pageAfter,
  pageThrough,
  type StreamSources,
} from "../hub/channel.ts";
import {
  type Accepted,
  checkRequest,
  requestedTokens,
  shownFilter,
  shownTokens,
} from "../hub/channel-request.ts";

const filters = ["side", "min_value", "wallet", "condition_id", "finality"] as const;
const ofAll: Accepted = { fields: [], filters };
const ofTokens: Accepted = { fields: ["token_id", "token_ids"], filters };

/** Opens the `trades` channel: all trades. */
export function openTrades(request: ChannelRequest, sources: StreamSources): Channel {
  checkRequest(request, ofAll);
  return channelOf(request, sources, { type: "trades", tokenIds: null });
}

/** Opens the `token_trades` channel: the trades of some tokens, without inverted trades of the complements. */
export function openTokenTrades(request: ChannelRequest, sources: StreamSources): Channel {
  checkRequest(request, ofTokens);
  return channelOf(request, sources, { type: "token_trades", tokenIds: requestedTokens(request) });
}

function channelOf(
  request: ChannelRequest,
  sources: StreamSources,
  { type, tokenIds }: { type: string; tokenIds: readonly TokenId[] | null },
): Channel {
  const shown = tokenIds === null ? {} : shownTokens(tokenIds);
  const finalizedOnly = request.filter?.finality === "finalized";
  const totalsOf = (tokenId: TokenId) => sources.state.directory.totalsOf(tokenId);
  const filter = () => fillFilterOf(request, tokenIds, sources);
  const tradesOf = (block: BlockFacts) => block.fills.filter(fillCondition(filter()).holds);
  return {
    event: "trade",
    normalizedRequest: { type, ...shown, ...shownFilter(request) },
    isFinalOnly: finalizedOnly,
    interest: { tokenIds: tokenIds ?? "all", events: false },
    entriesOf: (block) => tradesOf(block).map(entryWriter(sources)),
    readAfter: async (after, { limit }) => {
      const page = { filter: filter(), ...pageAfter(after), limit, finalizedOnly, totalsOf };
      return mapInTurns(await readFills(sources.store, page), entryWriter(sources));
    },
    readNewest: async (through, limit) => {
      const page = { filter: filter(), ...pageThrough(through), limit, finalizedOnly, totalsOf };
      const fills = await readFills(sources.store, page);
      return fills.toReversed().map(entryWriter(sources));
    },
    revertedBy: (removed, rewindTo) =>
      removed.flatMap(tradesOf).flatMap((fill) => (fill.seq > rewindTo ? [idFields(fill).id] : [])),
  };
}

/** Builds the filter for every read, because the tokens of a condition can become known later. */
function fillFilterOf(
  { filter = {} }: ChannelRequest,
  asked: readonly TokenId[] | null,
  { state }: StreamSources,
): FillFilter {
  const { side, min_value, wallet, condition_id } = filter;
  let tokenIds = asked;
  if (condition_id !== undefined) {
    const ofCondition =
      state.directory.market(condition_id)?.tokens.map((one) => one.tokenId) ?? [];
    tokenIds = asked === null ? ofCondition : ofCondition.filter((id) => asked.includes(id));
  }
  const roles = ["maker", "direct"] as const;
  return { roles, tokenIds: tokenIds ?? undefined, side, valueMin: min_value, wallet };
}

function entryWriter(sources: StreamSources): (fill: Fill) => Entry {
  const write = tradeWriter(rowContextOf(sources));
  return (fill) => ({ seq: fill.seq, json: write(fill) });
}
