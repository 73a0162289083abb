import type { Hash } from "../../src/base/ids.ts";
import { parseRetryAfter } from "../../src/base/time/retry.ts";
import { EndpointError } from "../../src/chain/chain-errors.ts";

import type { Incoming, OnHead, Outgoing, Transport } from "../../src/chain/rpc/transport.ts";
import type { BatchRefusal, FaultHook } from "./faults.ts";
import type { ScriptedBlock } from "./scripted-block.ts";
import { type Finality, ScriptedChain } from "./scripted-chain.ts";
import { type Reply, ScriptedRpc } from "./scripted-rpc.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimulatedClock } from "./simulated-clock.ts";

/** An endpoint in simulated time: a scripted chain behind a transport with latency. */
export class SimulatedEndpoint {
  readonly url: URL;
  readonly #clock: SimulatedClock;
  readonly #random: SeededRandom;
  readonly #rpc: ScriptedRpc;
  readonly #chain: ScriptedChain;
  readonly #announces: boolean;
  readonly #latencyMs: number;
  /** All its blocks, including those above its head. */
  #blocks: readonly ScriptedBlock[];
  #onHead: OnHead = () => {};
  /** The times and calls of requests on the open connection, for the last second. */
  #requested: { readonly atMs: number; readonly calls: number }[] = [];
  /** The largest number of calls within one second. */
  busiestSecond = 0;
  /** Whether it does not announce new heads. */
  isSilent = false;

  constructor(options: {
    readonly name: string;
    readonly blocks: readonly ScriptedBlock[];
    readonly clock: SimulatedClock;
    readonly random: SeededRandom;
  }) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#blocks = options.blocks;
    this.#chain = new ScriptedChain(options.blocks);
    this.#rpc = new ScriptedRpc(this.#chain, 137);
    this.#announces = this.#random.chance(0.4);
    this.#latencyMs = this.#random.pick([1, 5, 30, 150]);
    this.url = new URL(`${this.#announces ? "ws" : "http"}://${options.name}`);
  }

  /** Opens a connection. The previous one receives no more heads. */
  connect(onHead: OnHead): Transport {
    this.#onHead = onHead;
    this.#requested = [];
    return {
      exchange: (outgoing, signal) => this.#exchange(outgoing, signal),
      isAnnouncing: this.#announces,
      replace: () => {},
      close: () => {
        if (this.#onHead === onHead) this.#onHead = () => {};
      },
    };
  }

  fault(hook: FaultHook): () => void {
    return this.#rpc.fault(hook);
  }

  limitBatches(callsMax: number, refusal: BatchRefusal): void {
    this.#rpc.limitBatches(callsMax, refusal);
  }

  setFinalized(finality: Finality): void {
    this.#chain.setFinalized(finality);
  }

  /** Sets its chain, which must share a block with the previous one. */
  follow(blocks: readonly ScriptedBlock[]): void {
    const from = blocks.findIndex(({ hash }, index) => hash !== this.#blocks[index]?.hash);
    const last = blocks.at(-1);
    if (last === undefined) throw new Error("a chain has a block");
    if (from === -1) this.#chain.setHead(last.number);
    else {
      this.#chain.fork(blocks.slice(from));
      this.#blocks = blocks;
    }
    if (!this.isSilent) this.#onHead({ number: last.number, hash: last.hash as Hash });
  }

  /** The number of the last block that it shares with `blocks`. */
  commonWith(blocks: readonly ScriptedBlock[]): number {
    const differs = blocks.findIndex(({ hash }, index) => hash !== this.#blocks[index]?.hash);
    const common = blocks.at(differs === -1 ? -1 : differs - 1)?.number ?? -1;
    return Math.min(common, this.#chain.head);
  }

  async #exchange({ body }: Outgoing, signal: AbortSignal): Promise<Incoming> {
    this.#count(body);
    const onTheWay = this.#latencyMs * (0.5 + this.#random.next());
    await this.#clock.sleep(onTheWay, signal);
    const reply = this.#rpc.reply(body, null);
    // Responses can overtake each other, and can be outdated when they arrive.
    await this.#clock.sleep(onTheWay, signal);
    if (reply.kind === "hang") return this.#never(signal);
    return { value: readReply(reply), bytes: reply.kind === "text" ? reply.text.length : 0 };
  }

  #count(body: string): void {
    const parsed: unknown = JSON.parse(body);
    const atMs = this.#clock.monotonicMs();
    const calls = Array.isArray(parsed) ? parsed.length : 1;
    // 999.999, because sums of fractions of milliseconds are not exact.
    const recent = this.#requested.filter((requested) => requested.atMs > atMs - 999.999);
    this.#requested = [...recent, { atMs, calls }];
    const sum = this.#requested.reduce((total, requested) => total + requested.calls, 0);
    this.busiestSecond = Math.max(this.busiestSecond, sum);
  }

  #never(signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}

/** Interprets statuses and bodies as the HTTP transport does. */
function readReply(reply: Exclude<Reply, { kind: "hang" }>): unknown {
  switch (reply.kind) {
    case "reset":
      throw new EndpointError("unavailable", "socket hang up");
    case "http": {
      const { status, headers } = reply;
      if (status === 400) throw new EndpointError("rejected", "HTTP 400");
      if (status !== 429) throw new EndpointError("unavailable", `HTTP ${status}`);
      const retryAfterMs = parseRetryAfter(headers["retry-after"]);
      throw new EndpointError("rate_limited", "HTTP 429", { retryAfterMs });
    }
    case "text":
      try {
        return JSON.parse(reply.text);
      } catch (cause) {
        throw new EndpointError("unavailable", "an answer that is not JSON", { cause });
      }
  }
}
