/** The frames that clients send: schemas, types and readers. */
import { type Static, type TObject, Type } from "typebox";
import { Compile } from "typebox/compile";
import { streamLimits } from "../../base/config/limits.ts";
import {
  address,
  amount,
  conditionId,
  parsedText,
  tokenId,
} from "../../base/input/client-texts.ts";
import { compileReader, invalid } from "../../base/input/compile-reader.ts";
import { isJsonObject } from "../../base/json.ts";
import { wrongValue } from "../../base/near-name.ts";
import { resolutionSeconds } from "../../market/candle.ts";

const resolutions = Object.keys(resolutionSeconds) as (keyof typeof resolutionSeconds)[];

const anyText = parsedText({ expected: "text", parse: String });

/** The id that a client gives a frame. The answer repeats it. */
const frameId = Type.Union(
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

/** The filter, the position to resume from, whether rows after it may be missing, and the number of snapshot rows: next to `channel` or inside it. */
const startFields = {
  filter: Type.Optional(filter),
  resume_from: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 1 })),
  allow_gap: Type.Optional(Type.Boolean()),
  snapshot: Type.Optional(Type.Integer({ minimum: 0, maximum: streamLimits.snapshotRowsMax })),
};

const channel = Type.Object({
  type: Type.Optional(anyText),
  token_id: Type.Optional(tokenId),
  token_ids: Type.Optional(
    Type.Array(tokenId, { minItems: 1, maxItems: streamLimits.tokensPerChannelMax }),
  ),
  wallets: Type.Optional(
    Type.Array(address, { minItems: 1, maxItems: streamLimits.tokensPerChannelMax }),
  ),
  condition_ids: Type.Optional(
    Type.Array(conditionId, { minItems: 1, maxItems: streamLimits.tokensPerChannelMax }),
  ),
  resolution: Type.Optional(Type.Enum(resolutions)),
  include_mirror: Type.Optional(Type.Boolean()),
  ...startFields,
});

/** A channel as a client requests it. Its type decides which fields are accepted. */
export type ChannelRequest = Static<typeof channel>;

const common = { action: anyText, id: Type.Optional(frameId) };

const readSubscribe = getReader(Type.Object({ ...common, channel, ...startFields }));
const readUnsubscribe = getReader(
  Type.Object({
    ...common,
    subscription_id: Type.Optional(anyText),
    channel: Type.Optional(channel),
    filter: startFields.filter,
  }),
);

/** Readers of parsed frames, by `action`. They throw a `VALIDATION_ERROR` that names the invalid field. */
export const frameReaders = {
  auth: getReader(Type.Object({ ...common, api_key: anyText })),
  /** Returns the requested channel. */
  subscribe: (input: unknown): ChannelRequest => {
    const { channel: request, action: _action, id: _id, ...beside } = readSubscribe(input);
    return joined(request, beside);
  },
  /** Returns the id of the subscription to end, or its channel. */
  unsubscribe: (input: unknown): string | ChannelRequest => {
    const { subscription_id, channel: request, filter: otherFields } = readUnsubscribe(input);
    if (subscription_id !== undefined && request === undefined) return subscription_id;
    if (request === undefined || subscription_id !== undefined) {
      throw invalid("subscription_id", "or channel is required, one of both");
    }
    return joined(request, otherFields === undefined ? {} : { filter: otherFields });
  },
  ping: getReader(Type.Object(common)),
};

/** Returns the `action` of a parsed frame. Throws a `VALIDATION_ERROR` when there is no such action. */
export function getAction(input: unknown): keyof typeof frameReaders {
  if (!isJsonObject(input)) throw invalid("frame", "must be a JSON object");
  const action = getField(input, "action");
  const actions = Object.keys(frameReaders) as (keyof typeof frameReaders)[];
  const found = actions.find((name) => name === action);
  if (found !== undefined) return found;
  throw invalid("action", wrongValue(action ?? null, `one of ${actions.join(", ")}`, actions));
}

/** Returns the `id` of a frame, even if the rest of the frame is invalid; `null` if there is none. */
export function getFrameId(input: unknown): FrameId | null {
  const id = getField(input, "id");
  return frameIds.Check(id) ? id : null;
}

const frameIds = Compile(frameId);

/**
 * Merges `filter`, `resume_from` and `snapshot` into the channel. Each may be next to it or inside it, but not both.
 */
function joined(request: ChannelRequest, otherFields: Partial<ChannelRequest>): ChannelRequest {
  for (const name of Object.keys(otherFields)) {
    if (Object.hasOwn(request, name)) throw invalid(name, "is given more than once");
  }
  return { ...request, ...otherFields };
}

function getField(input: unknown, name: string): unknown {
  return isJsonObject(input) && Object.hasOwn(input, name) ? input[name] : undefined;
}

/** Parses a message; `text` is `null` for a binary message. Throws `VALIDATION_ERROR`. */
export function parseJson(text: string | null): unknown {
  if (text === null) throw invalid("frame", "must be text");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid("frame", "must be JSON");
  }
}

function getReader<Schema extends TObject>(schema: Schema) {
  const read = compileReader(schema, "frame");
  return (input: unknown) => read(input) as Static<Schema>;
}
