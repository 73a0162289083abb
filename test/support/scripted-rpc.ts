/** JSON-RPC over a scripted chain, without a network. It is honest unless a fault hook decides otherwise. */
import { type BatchRefusal, batchRefusals, type Fault, type FaultHook } from "./faults.ts";
import { answer, findLogs, RpcError, type RpcRequest } from "./scripted-answers.ts";
import type { RpcLog } from "./scripted-block.ts";
import { type ChainView, viewBehind } from "./scripted-chain.ts";

/** The reply on the wire to one request body. */
export type Reply =
  | { readonly kind: "text"; readonly text: string }
  | Extract<Fault, { kind: "http" | "hang" | "reset" }>;

/** Answers `eth_subscribe` on a transport that supports it. */
export type Subscribe = (request: RpcRequest) => string;

type Answered =
  | { readonly kind: "json"; readonly json: string; readonly isTruncated: boolean }
  | Exclude<Reply, { kind: "text" }>;

export class ScriptedRpc {
  readonly #chain: ChainView;
  readonly #chainId: number;
  readonly #hooks = new Set<FaultHook>();
  readonly #calls = new Map<string, number>();
  #batches: { readonly callsMax: number; readonly refusal: BatchRefusal } | null = null;

  constructor(chain: ChainView, chainId: number) {
    this.#chain = chain;
    this.#chainId = chainId;
  }

  /** The number of requests by method, including those with a fault. */
  get calls(): ReadonlyMap<string, number> {
    return this.#calls;
  }

  /** Adds a hook. Hooks are called before every response, oldest first. Returns a function that removes the hook. */
  fault(hook: FaultHook): () => void {
    this.#hooks.add(hook);
    return () => this.#hooks.delete(hook);
  }

  /** Refuses batches of more than `callsMax` calls from now on. */
  limitBatches(callsMax: number, refusal: BatchRefusal): void {
    this.#batches = { callsMax, refusal };
  }

  /** Answers a body: a batch or a single request. A fault of the transport applies to the whole body. */
  reply(body: string, subscribe: Subscribe | null): Reply {
    const parsed = JSON.parse(body) as RpcRequest | RpcRequest[];
    const requests = Array.isArray(parsed) ? parsed : [parsed];
    // Without support for batches not even a list of one request is read.
    if (Array.isArray(parsed) && requests.length > (this.#batches?.callsMax ?? Infinity)) {
      return this.#refuseBatch(requests, subscribe);
    }
    const texts: string[] = [];
    let isTruncated = false;
    for (const request of requests) {
      const answered = this.#answer(request, subscribe);
      if (answered.kind !== "json") return answered;
      isTruncated ||= answered.isTruncated;
      texts.push(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id ?? null)},${answered.json}}`);
    }
    const text = Array.isArray(parsed) ? `[${texts.join(",")}]` : texts.join();
    return { kind: "text", text: isTruncated ? text.slice(0, text.length >> 1) : text };
  }

  #refuseBatch(requests: readonly RpcRequest[], subscribe: Subscribe | null): Reply {
    const [first] = requests;
    if (this.#batches === null || first === undefined) throw new Error("there is no limit");
    const { callsMax, refusal } = this.#batches;
    // Some servers read the first call only.
    if (refusal === "firstOnly") return this.reply(JSON.stringify(first), subscribe);
    return batchRefusals[refusal]({ callsMax, requested: requests.length });
  }

  #answer(request: RpcRequest, subscribe: Subscribe | null): Answered {
    this.#calls.set(request.method, (this.#calls.get(request.method) ?? 0) + 1);
    const honest = (chain: ChainView) => result(this.#honest(request, chain, subscribe));
    try {
      const fault = this.#addOffense(request);
      switch (fault?.kind) {
        case "http":
        case "hang":
        case "reset":
          return fault;
        case "error":
          throw fault.error;
        case "result":
          return result(fault.json);
        case "logs":
          return result(JSON.stringify(fault.change(this.#logsFor(request))));
        case "behind":
          return honest(viewBehind(this.#chain, fault.blocks));
        case "truncated":
          return { ...honest(this.#chain), isTruncated: true };
        case undefined:
          return honest(this.#chain);
      }
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) throw thrown;
      const { code, message, data } = thrown;
      const json = `"error":${JSON.stringify({ code, message, data })}`;
      return { kind: "json", json, isTruncated: false };
    }
  }

  #logsFor(request: RpcRequest): RpcLog[] {
    return findLogs(this.#chain, request.params[0]).map((served) => served.log);
  }

  #addOffense(request: RpcRequest): Fault | null {
    for (const hook of this.#hooks) {
      const fault = hook(request, this.#chain);
      if (fault !== null) return fault;
    }
    return null;
  }

  #honest(request: RpcRequest, chain: ChainView, subscribe: Subscribe | null): string {
    if (request.method === "eth_chainId") return `"0x${this.#chainId.toString(16)}"`;
    const isSubscription = request.method === "eth_subscribe" && subscribe !== null;
    return isSubscription ? subscribe(request) : answer(chain, request);
  }
}

function result(json: string): Extract<Answered, { kind: "json" }> {
  return { kind: "json", json: `"result":${json}`, isTruncated: false };
}
