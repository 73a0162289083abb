import type { Static, TObject } from "typebox";
import { Compile } from "typebox/compile";
import { compileReader, invalid } from "../../base/input/compile-reader.ts";
import { isJsonObject } from "../../base/json.ts";
import { nearName } from "../../base/near-name.ts";
import { type ChannelRequest, type FrameId, frameId, frameSchemas } from "./frame-fields.ts";

/** A frame from a client, without its `id` (see `frameIdOf`). */
export type ClientFrame =
  | { readonly action: "auth"; readonly apiKey: string }
  | { readonly action: "subscribe"; readonly channel: ChannelRequest }
  | { readonly action: "unsubscribe"; readonly target: string | ChannelRequest }
  | { readonly action: "ping" };

const readers = {
  auth: readerOf(frameSchemas.auth),
  subscribe: readerOf(frameSchemas.subscribe),
  unsubscribe: readerOf(frameSchemas.unsubscribe),
  ping: readerOf(frameSchemas.ping),
};
const frameIds = Compile(frameId);

/** Reads a frame from a parsed JSON value. Throws a `VALIDATION_ERROR` that names the invalid field. */
export function readClientFrame(input: unknown): ClientFrame {
  const action = fieldOf(input, "action");
  switch (action) {
    case "auth":
      return { action, apiKey: readers.auth(input).api_key };
    case "subscribe": {
      const { channel, action: _action, id: _id, ...beside } = readers.subscribe(input);
      return { action, channel: joined(channel, beside) };
    }
    case "unsubscribe":
      return { action, target: readTarget(input) };
    case "ping":
      readers.ping(input);
      return { action };
    default:
      throw unknownAction(input, action);
  }
}

/** Returns the `id` of a frame, even if the rest of the frame is invalid; `null` if there is none. */
export function frameIdOf(input: unknown): FrameId | null {
  const id = fieldOf(input, "id");
  return frameIds.Check(id) ? id : null;
}

function readTarget(input: unknown): string | ChannelRequest {
  const { subscription_id, channel, filter } = readers.unsubscribe(input);
  if (subscription_id !== undefined && channel === undefined) return subscription_id;
  if (channel === undefined || subscription_id !== undefined) {
    throw invalid("subscription_id", "or channel is required, one of both");
  }
  return joined(channel, filter === undefined ? {} : { filter });
}

/**
 * Merges `filter`, `resume_from` and `snapshot` into the channel. Each may be next to it or inside it, but not both.
 */
function joined(channel: ChannelRequest, beside: Partial<ChannelRequest>): ChannelRequest {
  for (const name of Object.keys(beside)) {
    if (Object.hasOwn(channel, name)) throw invalid(name, "is given more than once");
  }
  return { ...channel, ...beside };
}

function unknownAction(input: unknown, action: unknown): Error {
  if (!isJsonObject(input)) return invalid("frame", "must be a JSON object");
  const known = Object.keys(readers);
  const near = typeof action === "string" ? nearName(action, known) : null;
  const guess = near === null ? "" : `; did you mean ${near}?`;
  return invalid("action", `must be one of ${known.join(", ")}${guess}`);
}

function fieldOf(input: unknown, name: string): unknown {
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

function readerOf<Schema extends TObject>(schema: Schema) {
  const read = compileReader(schema, "frame");
  return (input: unknown) => read(input) as Static<Schema>;
}
