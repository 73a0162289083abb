import { chainLimits } from "../base/limits.ts";
import { EndpointError } from "./chain-errors.ts";

/** One call of a batch. */
export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

/** What the node said to one call. */
export type RpcReply =
  | { readonly kind: "result"; readonly value: unknown }
  | { readonly kind: "error"; readonly code: number; readonly message: string };

/** The body of a batch; the calls bear the ids `firstId`, `firstId + 1` and so on. */
export function formatBatch(calls: readonly RpcCall[], firstId: number): string {
  const requests = calls.map((call, index) => ({ jsonrpc: "2.0", id: firstId + index, ...call }));
  return JSON.stringify(requests);
}

/**
 * The replies in the order of the calls, whatever order they came in. A lone error object, as nodes
 * send it for a batch they do not read, answers every call. Throws a `malformed` `EndpointError`.
 */
export function parseBatchReply(
  value: unknown,
  batch: { readonly firstId: number; readonly count: number },
): RpcReply[] {
  if (!Array.isArray(value)) {
    const reply = parseReply(value);
    if (reply.kind === "result") throw new EndpointError("malformed", "a batch got one result");
    return Array.from({ length: batch.count }, () => reply);
  }
  const replies: (RpcReply | undefined)[] = Array.from({ length: batch.count });
  for (const item of value as readonly unknown[]) {
    const index = idOf(item) - batch.firstId;
    if (!(index >= 0 && index < batch.count) || replies[index] !== undefined) {
      throw new EndpointError("malformed", "a reply has an id that was not asked for");
    }
    replies[index] = parseReply(item);
  }
  return replies.map((reply) => {
    if (reply === undefined) throw new EndpointError("malformed", "a reply is missing");
    return reply;
  });
}

/** The number a reply or a message refers to; NaN when it has none. */
export function idOf(item: unknown): number {
  const hasId = typeof item === "object" && item !== null && "id" in item;
  return hasId && typeof item.id === "number" && Number.isSafeInteger(item.id)
    ? item.id
    : Number.NaN;
}

function parseReply(value: unknown): RpcReply {
  if (typeof value !== "object" || value === null) {
    throw new EndpointError("malformed", "a reply is no object");
  }
  if ("error" in value && typeof value.error === "object" && value.error !== null) {
    const { error } = value;
    const code = "code" in error && typeof error.code === "number" ? error.code : 0;
    const message = "message" in error && typeof error.message === "string" ? error.message : "";
    return { kind: "error", code, message: message.slice(0, chainLimits.errorTextMax) };
  }
  if (!("result" in value)) throw new EndpointError("malformed", "a reply has no result");
  return { kind: "result", value: value.result };
}
