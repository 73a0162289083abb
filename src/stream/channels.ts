import { invalid } from "../base/input/compile-reader.ts";
import { nearName } from "../base/near-name.ts";
import { openCancellations } from "./channels/cancellations.ts";
import { openCandles } from "./channels/candles.ts";
import { openMarkets } from "./channels/markets.ts";
import { openOrderbook } from "./channels/orderbook.ts";
import { openPrices } from "./channels/prices.ts";
import { openResolutions } from "./channels/resolutions.ts";
import { openTrades } from "./channels/trades.ts";
import type { ChannelRequest } from "./frames/client-frame.ts";
import type { Channel, ChannelLog, Opening, StreamSources } from "./hub/channel.ts";
import {
  type Accepted,
  checkRequest,
  requestedTokens,
  shownFilter,
  shownTokens,
} from "./hub/channel-request.ts";

type ChannelType = Accepted & {
  readonly open: (opening: Opening) => ChannelLog;
};

const tradeFilters = ["side", "min_value", "wallet", "condition_id", "finality"] as const;

const channelTypes: Readonly<Record<string, ChannelType>> = {
  trades: { fields: [], filters: tradeFilters, open: openTrades },
  token_trades: { fields: ["token_id", "token_ids"], filters: tradeFilters, open: openTrades },
  orderbook: { fields: ["token_id"], filters: [], open: openOrderbook },
  resolutions: { fields: [], filters: ["condition_id", "finality"], open: openResolutions },
  markets: { fields: [], filters: ["condition_id", "finality"], open: openMarkets },
  cancellations: { fields: [], filters: ["finality"], open: openCancellations },
  candles: { fields: ["token_id", "resolution"], filters: [], open: openCandles },
  price: { fields: ["token_id", "token_ids"], filters: [], open: openPrices },
};

/** Opens the channel that a client requests. Throws `VALIDATION_ERROR`, and what `openOrderbook` throws. */
export function openChannel(request: ChannelRequest, sources: StreamSources): Channel {
  const channelType = typeOf(request);
  checkRequest(request, channelType);
  const { type, resolution } = request;
  const tokenIds = channelType.fields.includes("token_id") ? requestedTokens(request) : [];
  const normalizedRequest = {
    type,
    ...shownTokens(tokenIds),
    resolution,
    ...shownFilter(request),
  };
  return {
    ...channelType.open({ request, sources, tokenIds }),
    normalizedRequest,
    name: JSON.stringify(normalizedRequest),
    isFinalOnly: request.filter?.finality === "finalized",
  };
}

function typeOf({ type }: ChannelRequest): ChannelType {
  const known = Object.keys(channelTypes);
  const found = type !== undefined && known.includes(type) ? channelTypes[type] : undefined;
  if (found !== undefined) return found;
  const near = type === undefined ? null : nearName(type, known);
  const guess = near === null ? "" : `; did you mean ${near}?`;
  throw invalid("channel.type", `must be one of ${known.join(", ")}${guess}`);
}
