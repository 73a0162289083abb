/** Schemas and types of client frames and their fields. */
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

/** The id that a client gives a frame. The answer repeats it. */
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

/** The filter of a subscription. */
export type Filter = Static<typeof filter>;

/** The filter, the position to resume from and the number of snapshot rows: next to `channel` or inside it. */
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

/** A channel as a client requests it. Its type decides which fields are accepted. */
export type ChannelRequest = Static<typeof channel>;

const common = { action: anyText, id: Type.Optional(frameId) };

/** The schemas of client frames, by `action`. */
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
