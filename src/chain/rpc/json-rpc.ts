import { chainLimits } from "../../base/config/limits.ts";
import { EndpointError } from "../chain-errors.ts";
import { ProviderError } from "./provider-messages.ts";

/** One call of a batch. */
export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

/** The reply to one call. */
export type RpcReply =
  | { readonly kind: "result"; readonly value: unknown }
  | { readonly kind: "error"; readonly error: ProviderError };

/** Formats the body of a request, with ids from `firstId` on. A single call is not a batch: some nodes read none. */
export function formatCalls(calls: readonly RpcCall[], firstId: number): string {
  const requests = calls.map((call, index) => ({ jsonrpc: "2.0", id: firstId + index, ...call }));
  return JSON.stringify(requests.length === 1 ? requests[0] : requests);
}

/**
 * Parses the one reply of a node that does not read a batch. It is an object in place of the list, or an error
 * without the id of a call. `null` when the answer is a list of replies.
 */
export function parseSingleReply(value: unknown): RpcReply | null {
  if (!Array.isArray(value)) return parseReply(value);
  const [only] = value as readonly unknown[];
  return value.length === 1 && Number.isNaN(getId(only)) ? parseReply(only) : null;
}

/** Parses replies into the order of the calls. Throws a `malformed` `EndpointError`. */
export function parseReplies(
  value: unknown,
  requested: { readonly firstId: number; readonly count: number },
): RpcReply[] {
  if (requested.count === 1) {
    const single = parseSingleReply(value);
    // Errors of a balancer often come without an id.
    if (single?.kind === "error") return [single];
  }
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const replies: (RpcReply | undefined)[] = Array.from({ length: requested.count });
  for (const item of items) {
    const index = getId(item) - requested.firstId;
    if (!(index >= 0 && index < requested.count) || replies[index] !== undefined) {
      throw new EndpointError("malformed", "a reply has an id that was not asked for");
    }
    replies[index] = parseReply(item);
  }
  return replies.map((reply) => {
    if (reply === undefined) throw new EndpointError("malformed", "a reply is missing");
    return reply;
  });
}

/** Returns the value of a reply. Throws the error of the provider, or a `malformed` one without a reply. */
export function getResult(reply: RpcReply | undefined): unknown {
  if (reply === undefined) throw new EndpointError("malformed", "a reply is missing");
  if (reply.kind === "error") throw reply.error;
  return reply.value;
}

/** Returns the id of a reply or message; NaN when it has none. Some gateways send ids as text. */
export function getId(item: unknown): number {
  const id = typeof item === "object" && item !== null && "id" in item ? item.id : null;
  if (typeof id === "string" && /^[0-9]{1,15}$/.test(id)) return Number(id);
  return typeof id === "number" && Number.isSafeInteger(id) ? id : Number.NaN;
}

function parseReply(value: unknown): RpcReply {
  if (typeof value !== "object" || value === null) {
    throw new EndpointError("malformed", "a reply is not an object");
  }
  if ("error" in value && value.error !== null) return parseError(value.error);
  if (!("result" in value)) throw new EndpointError("malformed", "a reply has no result");
  return { kind: "result", value: value.result };
}

/** Parses an error. Gateways in front of nodes return their own errors as plain text. */
function parseError(error: unknown): RpcReply {
  const { code, message, data } = (typeof error === "object" ? error : { message: error }) as {
    readonly [name in "code" | "message" | "data"]?: unknown;
  };
  const text = [message, toText(data)].filter((part) => typeof part === "string" && part !== "");
  const excerpt = text.join(": ").slice(0, chainLimits.errorTextMax);
  return { kind: "error", error: new ProviderError(typeof code === "number" ? code : 0, excerpt) };
}

/** Nethermind and others put the allowed range in `data` and not in the message. */
function toText(data: unknown): string {
  if (typeof data === "string") return data.startsWith("0x") ? "" : data;
  const isObject = typeof data === "object" && data !== null && Object.keys(data).length > 0;
  try {
    return isObject ? JSON.stringify(data) : "";
  } catch {
    return ""; // nested too deeply
  }
}
