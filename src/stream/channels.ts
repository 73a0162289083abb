import { formatMicros } from "../base/decimal.ts";
import { type Address, type ConditionId, formatTokenId, type TokenId } from "../base/ids.ts";
import { invalid } from "../base/input/compile-reader.ts";
import { wrongValue } from "../base/near-name.ts";
import { formatConditionId } from "../rows/wire-format.ts";
import { openCancellations } from "./channels/cancellations.ts";
import { openCandles } from "./channels/candles.ts";
import { openMarkets } from "./channels/markets.ts";
import { openOpenInterest } from "./channels/open-interest.ts";
import { openOrderbook } from "./channels/orderbook.ts";
import { openPrices } from "./channels/prices.ts";
import { openResolutions } from "./channels/resolutions.ts";
import { openTrades } from "./channels/trades.ts";
import { openWallets } from "./channels/wallets.ts";
import type { ChannelRequest, Filter } from "./frames/client-frame.ts";
import type { Channel, ChannelLog, Opening, StreamSources } from "./hub/channel.ts";

const channelFields = [
  "token_id",
  "token_ids",
  "wallets",
  "condition_ids",
  "resolution",
  "include_mirror",
] as const;

/** The fields and filters that a channel type accepts: others are refused, not ignored. */
type ChannelType = {
  readonly fields: readonly (typeof channelFields)[number][];
  readonly filters: readonly (keyof Filter)[];
  readonly open: (opening: Opening) => ChannelLog;
};

const tradeFilters = ["side", "min_value", "wallet", "condition_id", "finality"] as const;

const channelTypes: Readonly<Record<string, ChannelType>> = {
  trades: { fields: [], filters: tradeFilters, open: openTrades },
  token_trades: {
    fields: ["token_id", "token_ids", "include_mirror"],
    filters: tradeFilters,
    open: openTrades,
  },
  orderbook: { fields: ["token_id"], filters: [], open: openOrderbook },
  resolutions: { fields: [], filters: ["condition_id", "finality"], open: openResolutions },
  markets: { fields: [], filters: ["condition_id", "finality"], open: openMarkets },
  cancellations: { fields: [], filters: ["finality"], open: openCancellations },
  candles: {
    fields: ["token_id", "resolution", "include_mirror"],
    filters: [],
    open: openCandles,
  },
  price: { fields: ["token_id", "token_ids", "include_mirror"], filters: [], open: openPrices },
  wallet: { fields: ["wallets"], filters: ["finality"], open: openWallets },
  open_interest: { fields: ["condition_ids"], filters: [], open: openOpenInterest },
};

/** Opens the channel that a client requests. Throws `VALIDATION_ERROR`, and what `openOrderbook` throws. */
export function openChannel(request: ChannelRequest, sources: StreamSources): Channel {
  const channelType = getType(request);
  checkRequest(request, channelType);
  const { type, resolution, include_mirror } = request;
  const tokenIds = channelType.fields.includes("token_id") ? requestedTokens(request) : [];
  const wallets = channelType.fields.includes("wallets") ? requestedWallets(request) : [];
  const conditionIds = channelType.fields.includes("condition_ids")
    ? requestedConditions(request)
    : [];
  const normalizedRequest = {
    type,
    ...publicTokens(tokenIds),
    ...(wallets.length > 0 && { wallets }),
    ...(conditionIds.length > 0 && { condition_ids: conditionIds.map(formatConditionId) }),
    resolution,
    include_mirror: include_mirror || undefined,
    ...publicFilter(request),
  };
  return {
    ...channelType.open({ request, sources, tokenIds, wallets, conditionIds }),
    normalizedRequest,
    name: JSON.stringify(normalizedRequest),
    tokenCount: tokenIds.length + wallets.length + conditionIds.length,
    isFinalOnly: request.filter?.finality === "finalized",
  };
}

function getType({ type }: ChannelRequest): ChannelType {
  const types = Object.keys(channelTypes);
  const found = type !== undefined && types.includes(type) ? channelTypes[type] : undefined;
  if (found !== undefined) return found;
  throw invalid("channel.type", wrongValue(type ?? null, `one of ${types.join(", ")}`, types));
}

/** Throws `VALIDATION_ERROR` when a request has a field or a filter that its channel type does not accept. */
function checkRequest(request: ChannelRequest, { fields, filters }: ChannelType): void {
  for (const name of channelFields) {
    if (request[name] !== undefined && !fields.includes(name)) throw notAccepted(name, request);
  }
  for (const name of Object.keys(request.filter ?? {}) as (keyof Filter)[]) {
    if (!filters.includes(name)) throw notAccepted(`filter.${name}`, request);
  }
}

/** Returns the tokens of a request, sorted and without duplicates. Throws `VALIDATION_ERROR` if there are none. */
function requestedTokens({ token_id, token_ids }: ChannelRequest): readonly TokenId[] {
  if (token_id !== undefined && token_ids !== undefined) {
    throw invalid("channel.token_ids", "cannot be given together with token_id");
  }
  const tokenIds = token_ids ?? (token_id === undefined ? [] : [token_id]);
  if (tokenIds.length === 0) throw invalid("channel.token_id", "or token_ids is required");
  return [...new Set(tokenIds)].toSorted();
}

/** Returns the wallets of a request, sorted and without duplicates. Throws `VALIDATION_ERROR` if there are none. */
function requestedWallets({ wallets }: ChannelRequest): readonly Address[] {
  if (wallets === undefined) throw invalid("channel.wallets", "is required");
  return [...new Set(wallets)].toSorted();
}

/** Returns the markets of a request, sorted and without duplicates. Throws `VALIDATION_ERROR` if there are none. */
function requestedConditions({ condition_ids }: ChannelRequest): readonly ConditionId[] {
  if (condition_ids === undefined) throw invalid("channel.condition_ids", "is required");
  return [...new Set(condition_ids)].toSorted();
}

/** Returns the field by which a request names these tokens; no field without tokens. */
function publicTokens(tokenIds: readonly TokenId[]): Readonly<Record<string, unknown>> {
  const [first, ...others] = tokenIds.map(formatTokenId);
  if (first === undefined) return {};
  return others.length === 0 ? { token_id: first } : { token_ids: [first, ...others] };
}

/** Returns the filter of a request with its fields in a fixed order; no field when nothing is filtered. */
function publicFilter({ filter = {} }: ChannelRequest): Readonly<Record<string, unknown>> {
  const { side, min_value, wallet, condition_id, finality } = filter;
  const normalized = {
    side,
    min_value: min_value === undefined ? undefined : formatMicros(min_value),
    wallet,
    condition_id: condition_id && formatConditionId(condition_id),
    finality: finality === "finalized" ? finality : undefined,
  };
  return Object.values(normalized).every((value) => value === undefined)
    ? {}
    : { filter: normalized };
}

function notAccepted(name: string, { type }: ChannelRequest): Error {
  return invalid(`channel.${name}`, `is not accepted by channels of type ${type}`);
}
