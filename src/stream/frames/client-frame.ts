import { nearName } from "../../base/near-name.ts";
import { type ChannelRequest, type FrameId, frameFields, parseFrameId } from "./frame-fields.ts";
import { invalidFrame, readFields } from "./read-fields.ts";

/** What a client can say. `id` comes back with the answer. */
export type ClientFrame =
  | { readonly action: "auth"; readonly apiKey: string }
  | { readonly action: "subscribe"; readonly channel: ChannelRequest }
  | { readonly action: "unsubscribe"; readonly of: string | ChannelRequest }
  | { readonly action: "ping" };

/** The frame of a parsed JSON value. Throws `VALIDATION_ERROR` that names what is wrong. */
export function readClientFrame(input: unknown): ClientFrame {
  const action = fieldOf(input, "action");
  switch (action) {
    case "auth": {
      const { api_key } = readFields(input, frameFields.auth);
      if (api_key === undefined) throw invalidFrame("api_key", "is required");
      return { action, apiKey: api_key };
    }
    case "subscribe":
      return { action, channel: readSubscribed(input) };
    case "unsubscribe":
      return { action, of: readUnsubscribed(input) };
    case "ping":
      readFields(input, frameFields.ping);
      return { action };
    default:
      throw unknownAction(input, action);
  }
}

/** The id a client gave its frame, also when the rest of it is not valid. */
export function frameIdOf(input: unknown): FrameId | null {
  return parseFrameId(fieldOf(input, "id"));
}

/** Filter, start and snapshot may be next to the channel or within it, but not in both places. */
function readSubscribed(input: unknown): ChannelRequest {
  const { channel, filter, resume_from, snapshot } = readFields(input, frameFields.subscribe);
  if (channel === undefined) throw invalidFrame("channel", 'is required: { "type": ... }');
  return joined(channel, {
    ...(filter === undefined ? {} : { filter }),
    ...(resume_from === undefined ? {} : { resume_from }),
    ...(snapshot === undefined ? {} : { snapshot }),
  });
}

function readUnsubscribed(input: unknown): string | ChannelRequest {
  const { subscription_id, channel, filter } = readFields(input, frameFields.unsubscribe);
  if (subscription_id !== undefined && channel === undefined) return subscription_id;
  if (channel === undefined || subscription_id !== undefined) {
    throw invalidFrame("subscription_id", "or channel is required, one of both");
  }
  return joined(channel, filter === undefined ? {} : { filter });
}

function joined(channel: ChannelRequest, beside: Partial<ChannelRequest>): ChannelRequest {
  for (const name of Object.keys(beside)) {
    if (Object.hasOwn(channel, name)) throw invalidFrame(name, "is given more than once");
  }
  return { ...channel, ...beside };
}

function unknownAction(input: unknown, action: unknown): Error {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return invalidFrame("frame", "must be a JSON object");
  }
  const known = Object.keys(frameFields);
  const near = typeof action === "string" ? nearName(action, known) : null;
  const guess = near === null ? "" : `; did you mean ${near}?`;
  return invalidFrame("action", `must be one of ${known.join(", ")}${guess}`);
}

function fieldOf(input: unknown, name: string): unknown {
  if (typeof input !== "object" || input === null || !Object.hasOwn(input, name)) return undefined;
  return (input as Readonly<Record<string, unknown>>)[name];
}

/** What a message says; `null` is one that is not text. Throws `VALIDATION_ERROR`. */
export function parseJson(text: string | null): unknown {
  if (text === null) throw invalidFrame("frame", "must be text");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalidFrame("frame", "must be JSON");
  }
}
