/** The fields that frames of clients are made of; schemas and types of all of them. */
import { type Static, Type } from "typebox";
import { streamLimits } from "../../base/config/limits.ts";
import {
  address,
  amount,
  conditionId,
  parsedText,
  tokenId,
} from "../../base/input/client-texts.ts";
import { resolutionSeconds } from "../../market/candle.ts";

const resolutions = Object.keys(resolutionSeconds) as (keyof typeof resolutionSeconds)[];

const anyText = parsedText({ expected: "text", parse: String });

/** What a client calls a frame of its own, sent back with the answer. */
export const frameId = Type.Union(
  [
    Type.String({ maxLength: streamLimits.frameIdLengthMax }),
    Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  ],
  { "~expected": "a text of up to 64 characters or a whole number" },
);
export type FrameId = Static<typeof frameId>;

const filter = Type.Object({
  side: Type.Optional(Type.Enum(["BUY", "SELL"])),
  min_value: Type.Optional(amount),
  wallet: Type.Optional(address),
  condition_id: Type.Optional(conditionId),
  finality: Type.Optional(Type.Enum(["confirmed", "finalized"])),
});

/** What a subscription is narrowed to. */
export type Filter = Static<typeof filter>;

/** From where, and with how much before it; next to the channel or within it. */
const startFields = {
  filter: Type.Optional(filter),
  resume_from: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 1 })),
  snapshot: Type.Optional(Type.Integer({ minimum: 0, maximum: streamLimits.snapshotRowsMax })),
};

const channel = Type.Object({
  type: Type.Optional(anyText),
  token_id: Type.Optional(tokenId),
  token_ids: Type.Optional(
    Type.Array(tokenId, { minItems: 1, maxItems: streamLimits.tokensPerChannelMax }),
  ),
  resolution: Type.Optional(Type.Enum(resolutions)),
  ...startFields,
});

/** A channel as a client asks for it; which fields it may have depends on its type. */
export type ChannelRequest = Static<typeof channel>;

const common = { action: anyText, id: Type.Optional(frameId) };

/** What a client can say, by `action`. */
export const frameSchemas = {
  auth: Type.Object({ ...common, api_key: anyText }),
  subscribe: Type.Object({ ...common, channel, ...startFields }),
  unsubscribe: Type.Object({
    ...common,
    subscription_id: Type.Optional(anyText),
    channel: Type.Optional(channel),
    filter: startFields.filter,
  }),
  ping: Type.Object(common),
};
