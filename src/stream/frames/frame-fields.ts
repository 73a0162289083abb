/** The fields that frames of clients are made of; table and types of all of them. */

import {
  addressInput,
  amountInput,
  type ClientText,
  conditionIdInput,
  tokenIdInput,
} from "../../base/config/client-texts.ts";
import { streamLimits } from "../../base/config/limits.ts";
import type { TokenId } from "../../base/ids.ts";
import { resolutionSeconds } from "../../market/candle.ts";
import { type Field, readFields, type Values } from "./read-fields.ts";

const resolutions = Object.keys(resolutionSeconds) as (keyof typeof resolutionSeconds)[];

const tokenId: Field<TokenId> = text(tokenIdInput);

/** A seq, or how many rows: a whole number. */
function wholeNumber(max: number): Field<number> {
  return {
    expected: `a whole number from 0 to ${max}`,
    read: (raw) =>
      Number.isInteger(raw) && Number(raw) >= 0 && Number(raw) <= max ? Number(raw) : null,
  };
}

function oneOf<Word extends string>(words: readonly Word[]): Field<Word> {
  return {
    expected: `one of ${words.join(", ")}`,
    read: (raw) => words.find((word) => word === raw) ?? null,
  };
}

function text<Value>({ expected, parse }: Omit<ClientText<Value>, "pattern">): Field<Value> {
  return { expected, read: (raw) => (typeof raw === "string" ? parse(raw) : null) };
}

const anyText = text({ expected: "text", parse: String });

const filterFields = {
  side: oneOf(["BUY", "SELL"]),
  min_value: text(amountInput),
  wallet: text(addressInput),
  condition_id: text(conditionIdInput),
  finality: oneOf(["confirmed", "finalized"]),
};

/** What a subscription is narrowed to. */
export type Filter = Values<typeof filterFields>;

const filter: Field<Filter> = {
  expected: "a JSON object",
  read: (raw) => readFields(raw, filterFields, "channel.filter."),
};

/** From where, and with how much before it; next to the channel or within it. */
const startFields = {
  filter,
  resume_from: wholeNumber(Number.MAX_SAFE_INTEGER - 1),
  snapshot: wholeNumber(streamLimits.snapshotRowsMax),
};

const channelFields = {
  type: anyText,
  token_id: tokenId,
  token_ids: {
    expected: `a list of 1 to ${streamLimits.tokensPerChannelMax} token ids`,
    read: (raw: unknown): readonly TokenId[] | null => {
      const isList = Array.isArray(raw) && raw.length > 0;
      if (!isList || raw.length > streamLimits.tokensPerChannelMax) return null;
      const ids = raw.map((one: unknown) => tokenId.read(one));
      return ids.includes(null) ? null : ids.filter((id) => id !== null);
    },
  },
  resolution: oneOf(resolutions),
  ...startFields,
};

/** A channel as a client asks for it; which fields it may have depends on its type. */
export type ChannelRequest = Values<typeof channelFields>;

/** The fields of each action next to `action` itself. */
export const frameFields = {
  auth: { action: anyText, api_key: anyText, id: idField() },
  subscribe: {
    action: anyText,
    id: idField(),
    channel: channelField(),
    ...startFields,
  },
  unsubscribe: {
    action: anyText,
    id: idField(),
    subscription_id: anyText,
    channel: channelField(),
    filter,
  },
  ping: { action: anyText, id: idField() },
};

/** What a client calls a frame of its own, sent back with the answer. */
export type FrameId = string | number;

function idField(): Field<FrameId> {
  return { expected: "a text of up to 64 characters or a whole number", read: parseFrameId };
}

/** The id of a frame, of whatever else it consists; `null` without a valid one. */
export function parseFrameId(raw: unknown): FrameId | null {
  if (typeof raw === "string") return raw.length <= streamLimits.frameIdLengthMax ? raw : null;
  return Number.isSafeInteger(raw) ? Number(raw) : null;
}

function channelField(): Field<ChannelRequest> {
  return { expected: "a JSON object", read: (raw) => readFields(raw, channelFields, "channel.") };
}
