import { invalid } from "../base/input/compile-reader.ts";
import { nearName } from "../base/near-name.ts";
import { openCancellations } from "./channels/cancellations.ts";
import { openCandles } from "./channels/candles.ts";
import { openMarkets } from "./channels/markets.ts";
import { openOrderbook } from "./channels/orderbook.ts";
import { openPrices } from "./channels/prices.ts";
import { openResolutions } from "./channels/resolutions.ts";
import { openTokenTrades, openTrades } from "./channels/trades.ts";
import type { ChannelRequest } from "./frames/frame-fields.ts";
import type { Channel, StreamSources } from "./hub/channel.ts";

/** The channel types. Each function throws `VALIDATION_ERROR` for fields and filters that its type does not accept. */
const channelTypes: Readonly<
  Record<string, (request: ChannelRequest, sources: StreamSources) => Channel>
> = {
  trades: openTrades,
  token_trades: openTokenTrades,
  orderbook: openOrderbook,
  resolutions: openResolutions,
  markets: openMarkets,
  cancellations: openCancellations,
  candles: openCandles,
  price: openPrices,
};

/** Opens the channel that a client requests. Throws `VALIDATION_ERROR`, and what `openOrderbook` throws. */
export function openChannel(request: ChannelRequest, sources: StreamSources): Channel {
  const { type } = request;
  const known = Object.keys(channelTypes);
  const open = type !== undefined && known.includes(type) ? channelTypes[type] : undefined;
  if (open !== undefined) return open(request, sources);
  const near = type === undefined ? null : nearName(type, known);
  const guess = near === null ? "" : `; did you mean ${near}?`;
  throw invalid("channel.type", `must be one of ${known.join(", ")}${guess}`);
}
