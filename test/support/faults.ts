/**
 * Faults of nodes, one hook each. A hook receives a request and returns its fault, or `null` for an honest response:
 * `node.fault(times(3, on("eth_call", () => badGateway)))`.
 */
import { findLogs, RpcError, type RpcRequest, requestedRange } from "./scripted-answers.ts";
import { type RpcLog, type ScriptedBlock, toQuantity } from "./scripted-block.ts";
import type { ChainView } from "./scripted-chain.ts";

export type Fault =
  | {
      readonly kind: "http";
      readonly status: number;
      readonly body: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly kind: "hang" }
  | { readonly kind: "reset" }
  | { readonly kind: "truncated" }
  | { readonly kind: "error"; readonly error: RpcError }
  | { readonly kind: "result"; readonly json: string }
  /** Changes the logs of an `eth_getLogs`. */
  | { readonly kind: "logs"; readonly change: (logs: readonly RpcLog[]) => readonly RpcLog[] }
  /** Answers as another node behind the balancer, which is silently this many blocks behind. */
  | { readonly kind: "behind"; readonly blocks: number };

export type FaultHook = (request: RpcRequest, chain: ChainView) => Fault | null;

/** Limits `hook` to requests of `method`. */
export function on(method: string, hook: FaultHook): FaultHook {
  return (request, chain) => (request.method === method ? hook(request, chain) : null);
}

/** Limits `hook` to `count` faults. */
export function times(count: number, hook: FaultHook): FaultHook {
  let left = count;
  return (request, chain) => {
    const fault = left > 0 ? hook(request, chain) : null;
    if (fault !== null) left -= 1;
    return fault;
  };
}

/** Faults of single requests of an otherwise honest node, by name. */
export const passingFaults: Readonly<Record<string, FaultHook>> = {
  "no logs": (request, chain) => noLogs(request, chain),
  "a log twice": (request, chain) => duplicateLog(request, chain),
  "a log of another block": (request, chain) => logOfAnotherBlock(request, chain),
  "a log of another fork": (request, chain) => logOfAnotherFork(request, chain),
  "a removed log": (request, chain) => removedLog(request, chain),
  "a 429 without Retry-After": () => tooManyRequests(null),
  "a 429 with Retry-After": () => tooManyRequests(1),
  "a 502 with HTML": () => badGateway,
  "a connection that is reset": () => reset,
  "truncated JSON": () => truncated,
  "null blocks": on("eth_getBlockByNumber", () => nullResult),
  "no healthy backend": () => unhealthy,
  "a backend that is behind": () => ({ kind: "behind", blocks: 5 }),
};

type Refusal = { readonly cap: number; readonly from: number };

/** How providers refuse a range of more than `cap` blocks that starts at block `from`. */
export const rangeCapMessages = {
  alchemy: ({ cap, from }) =>
    new RpcError(
      -32600,
      `You can make eth_getLogs requests with up to a ${cap} block range. Based on your parameters, this block range should work: ${span(from, from + cap - 1)}`,
    ),
  infura: ({ cap }) => new RpcError(-32602, `range 100000 exceeds limit of ${cap}`),
  quicknode: ({ cap }) => new RpcError(-32614, `eth_getLogs is limited to a ${cap} range`),
  publicnode: ({ cap }) => new RpcError(-32701, `exceed maximum block range: ${cap}`),
  coinbase: ({ cap }) => new RpcError(-32602, `please limit the query to at most ${cap} blocks`),
  blockpi: ({ cap }) => new RpcError(-32000, `eth_getLogs is limited to ${cap} block range`),
  drpc: ({ cap }) => new RpcError(35, `ranges over ${cap} blocks are not supported on freetier`),
  ankr: () => new RpcError(-32600, "block range is too wide"),
  oneRpc: ({ cap }) => new RpcError(-32602, `eth_getLogs is limited to 0 - ${cap} blocks range`),
  reth: ({ cap, from }) =>
    new RpcError(
      -32602,
      `query exceeds max results 9, retry with the range ${from}-${from + cap - 1}`,
    ),
  nethermind: ({ cap, from }) =>
    new RpcError(
      -32602,
      "invalid params",
      `Query returned more than 9 results. Try with this block range ${span(from, from + cap - 1)}.`,
    ),
  nobodys: () => new RpcError(-32000, "no such thing today"),
  chainstack: () => new RpcError(-32000, "Block range limit exceeded."),
} as const satisfies Record<string, (refusal: Refusal) => RpcError>;

/** How providers refuse a response of more than `cap` logs. */
export const resultCapMessages = {
  infura: ({ cap, from }) =>
    new RpcError(
      -32005,
      `query returned more than ${cap} results. Try with this block range ${span(from, from + 1)}.`,
    ),
  erigon: ({ cap }) => new RpcError(-32000, `logs matched by query exceeds limit of ${cap}`),
  geth: ({ cap }) => new RpcError(-32602, `query exceeds max results ${cap}`),
  llama: () => new RpcError(-32000, "backend response too large"),
  bytes: ({ cap }) =>
    new RpcError(-32008, `response size should not greater than ${cap * 1000} bytes`),
} as const satisfies Record<string, (refusal: Refusal) => RpcError>;

/** Refuses `eth_getLogs` over more than `cap` blocks. */
export function rangeCap(cap: number, provider: keyof typeof rangeCapMessages): FaultHook {
  return (request, chain) => {
    const range = requestedRange(request, chain);
    if (range === null || range.to - range.from < cap) return null;
    return { kind: "error", error: rangeCapMessages[provider]({ cap, from: range.from }) };
  };
}

/** Refuses `eth_getLogs` with more than `cap` logs in the response. */
export function resultCap(cap: number, provider: keyof typeof resultCapMessages): FaultHook {
  return (request, chain) => {
    if (request.method !== "eth_getLogs") return null;
    if (findLogs(chain, request.params[0]).length <= cap) return null;
    const from = requestedRange(request, chain)?.from ?? 0;
    return { kind: "error", error: resultCapMessages[provider]({ cap, from }) };
  };
}

type BatchRequest = { readonly callsMax: number; readonly requested: number };
type BatchReply =
  | { readonly kind: "text"; readonly text: string }
  | Extract<Fault, { kind: "http" | "hang" | "reset" }>;

/** How nodes refuse a batch of more than `callsMax` calls. */
export const batchRefusals = {
  erigon: ({ callsMax, requested }) =>
    loneError(-32000, `batch limit ${callsMax} exceeded: ${requested} requests given`),
  drpc: ({ callsMax }) =>
    loneError(31, `Batch of more than ${callsMax} requests are not allowed on free tier`),
  geth: () => ({ kind: "text", text: `[${loneError(-32600, "batch too large").text}]` }),
  unsupported: () => loneError(-32600, "batch requests are not supported"),
  unclear: () => loneError(-32700, "parse error"),
  rejected: () => ({ kind: "http", status: 400, body: "Bad Request", headers: {} }),
  forbidden: () => ({ kind: "http", status: 403, body: "<html>403</html>", headers: {} }),
  gateway: () => ({ kind: "http", status: 400, body: '{"message":"no batches"}', headers: {} }),
  // Erigon, above its limit.
  hungUp: () => ({ kind: "reset" }),
  nothing: () => ({ kind: "text", text: "" }),
  silence: () => ({ kind: "hang" }),
  emptyList: () => ({ kind: "text", text: "[]" }),
  bareText: () => ({ kind: "text", text: '{"error":"batch"}' }),
} as const satisfies Record<string, (requested: BatchRequest) => BatchReply>;

export type BatchRefusal = keyof typeof batchRefusals | "firstOnly";

function loneError(code: number, message: string): { kind: "text"; text: string } {
  return {
    kind: "text",
    text: JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }),
  };
}

function span(from: number, to: number): string {
  return `[${toQuantity(from)}, ${toQuantity(to)}]`;
}

export function tooManyRequests(retryAfterSeconds: number | null): Fault {
  const headers: Record<string, string> =
    retryAfterSeconds === null ? {} : { "retry-after": String(retryAfterSeconds) };
  const body = '{"jsonrpc":"2.0","id":null,"error":{"code":429,"message":"Too Many Requests"}}';
  return {
    kind: "http",
    status: 429,
    body,
    headers: { "content-type": "application/json", ...headers },
  };
}

export const badGateway: Fault = {
  kind: "http",
  status: 502,
  body: "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
  headers: { "content-type": "text/html" },
};
export const hang: Fault = { kind: "hang" };
export const reset: Fault = { kind: "reset" };
export const truncated: Fault = { kind: "truncated" };
export const nullResult: Fault = { kind: "result", json: "null" };
export const unhealthy: Fault = {
  kind: "error",
  error: new RpcError(-32011, "no backend is currently healthy to serve traffic"),
};

/** Answers `eth_getLogs` with an empty list, whatever the bloom says. */
export const noLogs: FaultHook = changeLogs(() => []);

/** Omits the last log. */
export const lostLog: FaultHook = changeLogs((logs) => logs.slice(0, -1));

/** Sends all logs in reverse order. */
export const reversedLogs: FaultHook = changeLogs((logs) => logs.toReversed());

/** Changes the member `name` of every `nth` header among those that `picks` selects. */
export function wrongHeaders(
  picks: (number: number) => boolean,
  lie: { readonly nth: number; readonly name: string; readonly value?: string },
): FaultHook {
  let turn = 0;
  return on("eth_getBlockByNumber", (request, chain) => {
    const [tag] = request.params;
    const number = Number(tag === "latest" ? chain.head : tag === "finalized" ? -1 : tag);
    const block = chain.blockAt(number);
    if (block === null || !picks(number)) return null;
    turn += 1;
    if (turn % lie.nth !== 0) return null;
    return { kind: "result", json: JSON.stringify({ ...block.header, [lie.name]: lie.value }) };
  });
}

/** Sends the last log twice. */
export const duplicateLog: FaultHook = changeLastLog((last) => [last, last]);

/** Sends the last log once more, with a topic that no log of the block has. */
export const inventedLog: FaultHook = changeLastLog((last) => [
  last,
  {
    ...last,
    topics: [...last.topics, `0x${"f1".repeat(32)}`],
    logIndex: toQuantity(Number(last.logIndex) + 1),
  },
]);

/** Sends the last log again as removed. */
export const removedLog: FaultHook = changeLastLog((last) => [last, { ...last, removed: true }]);

/** Sends the last log as a log of the next block. */
export const logOfAnotherBlock: FaultHook = changeLastLog((last) => [
  { ...last, blockNumber: toQuantity(Number(last.blockNumber) + 1) },
]);

/** Sends the last log with the hash of a block that does not exist. */
export const logOfAnotherFork: FaultHook = changeLastLog((last) => [
  { ...last, blockHash: `0x${"f0".repeat(32)}` },
]);

/** A log that was omitted from a response, its block, and the remaining logs of the response. */
export type Loss = {
  readonly lost: RpcLog;
  readonly block: ScriptedBlock;
  readonly remaining: readonly RpcLog[];
};

/** Omits the log that `pick` selects, and calls `onLoss`. */
export function loseLog(pick: (count: number) => number, onLoss: (loss: Loss) => void): FaultHook {
  return on("eth_getLogs", (_, chain) => ({
    kind: "logs",
    change: (logs) => {
      const lost = logs[pick(logs.length)];
      const block = lost === undefined ? null : chain.blockWithHash(lost.blockHash);
      if (lost === undefined || block === null) return logs;
      const remaining = logs.filter((log) => log !== lost);
      onLoss({ lost, block, remaining });
      return remaining;
    },
  }));
}

function changeLastLog(change: (last: RpcLog) => readonly RpcLog[]): FaultHook {
  return changeLogs((logs) => [...logs.slice(0, -1), ...logs.slice(-1).flatMap(change)]);
}

function changeLogs(change: (logs: readonly RpcLog[]) => readonly RpcLog[]): FaultHook {
  return on("eth_getLogs", () => ({ kind: "logs", change }));
}
