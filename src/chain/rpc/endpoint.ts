import { breakers, chainLimits } from "../../base/config/limits.ts";
import type { Hash } from "../../base/ids.ts";
import type { ChainContext } from "../chain-context.ts";
import { EndpointError, WrongChainError } from "../chain-errors.ts";
import type { Header } from "../parse/parse-header.ts";
import { parseQuantity } from "../parse/parse-hex.ts";
import type { BlockRef } from "../raw-log.ts";
import type { ChainWarning } from "../sync/chain-warning.ts";
import { RangeSizer } from "../sync/range-sizer.ts";
import { AdaptiveTimeout, type Patience } from "./adaptive-timeout.ts";
import { Breaker } from "./breaker.ts";
import { HttpTransport } from "./http-transport.ts";
import type { RpcCall, RpcReply } from "./json-rpc.ts";
import { resultOf } from "./provider-messages.ts";
import { RequestPacer } from "./request-pacer.ts";
import { type Answer, RpcClient } from "./rpc-client.ts";
import type { OnHead, OpenTransport, Transport } from "./transport.ts";
import { WsTransport } from "./ws-transport.ts";

/** Who is asked, and within which limits. */
export type EndpointOptions = {
  readonly url: URL;
  /** Stands for the URL, which may hold secrets, wherever people look: its host and port, with `#2` and so on. */
  readonly host: string;
  readonly chainId: number;
  /** The operator's budget; `null` is no limit. */
  readonly callsPerSecondMax: number | null;
  readonly context: ChainContext;
  readonly openTransport?: OpenTransport;
};

/** What an endpoint was last heard to say about its chain. */
export type EndpointView = {
  /** The block of the tag `latest`. */
  readonly head: Header;
  /** The highest block final by its word; the hash is unknown when the number is head - 256. */
  readonly final: { readonly number: number; readonly hash: Hash | null } | null;
  /** The highest number its tag `finalized` ever had; -1 before the first. */
  readonly finalMax: number;
  readonly warning: ChainWarning | null;
};

const chainIdCall: RpcCall = { method: "eth_chainId", params: [] };
/** With a longer wait for its rate an endpoint is passed over. */
const waitMsMax = 1_000;
const latencyWeight = 0.2;
/** How long nothing is said again of wrong answers that differ in numbers only. */
const sameWarningMs = 60_000;

/** One node or provider, with two breakers: `link` for failing connections, `data` for wrong answers. */
export class Endpoint {
  readonly host: string;
  readonly sizer = new RangeSizer();
  readonly patience = new AdaptiveTimeout();
  /** With answers that are small, and are asked for again soon. */
  readonly smallPatience = new AdaptiveTimeout(chainLimits.headTimeoutMs);
  /** `null` before the first poll. Written by the head watch. */
  view: EndpointView | null = null;
  /** The newest block it reported, polled or announced; the latter is a hint only. */
  newest: BlockRef | null = null;
  /** Monotonic time at which `newest` last rose. */
  roseAtMs = 0;
  /** Monotonic time at which `view` was written last; at first that of the start. */
  heardAtMs: number;
  /** `false` while its head is far above those of the others; it is asked for nothing but its head then. */
  isHeadBelieved = true;
  /** `false` once a header contradicted a time that came with its logs; all times are taken from headers then. */
  areLogTimesBelieved = true;
  /** Whether it answered another hash for a final block than the majority. */
  isOutvoted = false;
  /** Whether it was among those that agreed on the last final block: only then are its final blocks believed. */
  isInAgreement = false;
  onHead: (head: BlockRef) => void = () => {};

  readonly #chainId: number;
  readonly #context: ChainContext;
  readonly #transport: Transport;
  readonly #pacer: RequestPacer;
  readonly #client: RpcClient;
  readonly #link: Breaker;
  readonly #data: Breaker;
  #inFlight = 0;
  #isVerified = false;
  #refusal: WrongChainError | null = null;
  #requests = 0;
  #calls = 0;
  #errors = 0;
  #rateLimited = 0;
  #badAnswers = 0;
  #latencyMs: number | null = null;
  /** Monotonic time of its last answer. */
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #lastError: string | null = null;
  /** What was last said of wrong answers, without its numbers, and when by monotonic time. */
  #warned = { kind: "", atMs: 0 };

  private constructor(options: EndpointOptions) {
    const { random, clock } = options.context;
    this.heardAtMs = clock.monotonicMs();
    this.host = options.host;
    this.#chainId = options.chainId;
    this.#context = options.context;
    this.#pacer = new RequestPacer(options.callsPerSecondMax);
    this.#link = new Breaker({ ...breakers.link, random });
    this.#data = new Breaker({ ...breakers.data, random });
    const open = options.openTransport ?? openTransport;
    const transport = open(options.url, (head) => this.onHead(head));
    this.#transport = transport;
    this.#client = new RpcClient({ transport, pacer: this.#pacer, context: options.context });
  }

  /** Sends nothing yet. */
  static open(options: EndpointOptions): Endpoint {
    return new Endpoint(options);
  }

  close(): void {
    this.#transport.close();
  }

  /** The chain it turned out to serve, when that is the wrong one: it is never used again. */
  get refusal(): WrongChainError | null {
    return this.#refusal;
  }

  get isAnnouncing(): boolean {
    return this.#transport.isAnnouncing;
  }

  /** Whether its word about the chain can be had; it may be resting for other reasons. */
  get isReachable(): boolean {
    return this.#isVerified && this.#link.state(this.#context.clock.monotonicMs()) === "closed";
  }

  /** Whether it was heard lately, or may be soon: it counts among those whose majority decides. */
  get isPresent(): boolean {
    if (this.#refusal !== null) return false;
    const silentMs = this.#context.clock.monotonicMs() - this.heardAtMs;
    return this.isReachable || silentMs <= chainLimits.endpointAbsenceMsMax;
  }

  /** Whether it answers, and as the others do; it may have to wait for its turn all the same. */
  get isHealthy(): boolean {
    const nowMs = this.#context.clock.monotonicMs();
    return (
      this.isReachable &&
      this.isHeadBelieved &&
      !this.isOutvoted &&
      this.#data.state(nowMs) !== "open" &&
      this.#pacer.pausedMs(nowMs) <= waitMsMax
    );
  }

  /** Whether it may be asked now. */
  get isUsable(): boolean {
    const waitMs = this.#pacer.waitMs(this.#context.clock.monotonicMs());
    const isFree = waitMs <= waitMsMax && this.#inFlight < chainLimits.concurrentRequestsMax;
    return this.isHealthy && isFree;
  }

  /** What it costs to ask it, in milliseconds: less is better. */
  get cost(): number {
    const waitMs = this.#pacer.waitMs(this.#context.clock.monotonicMs());
    return (waitMs + (this.#latencyMs ?? 1_000)) * (1 + this.#inFlight);
  }

  /** Whether it may be asked for its head: also when that is the probe after failures. */
  tryProbe(): boolean {
    const nowMs = this.#context.clock.monotonicMs();
    if (this.#refusal !== null || this.#pacer.waitMs(nowMs) > waitMsMax) return false;
    return this.#link.tryPass(nowMs);
  }

  /** Asks for its chain id, unless that is known; throws `WrongChainError` if it is another. */
  async verify(): Promise<void> {
    if (this.#isVerified) return;
    const { replies } = await this.request([chainIdCall], this.smallPatience);
    const served = readChainId(replies[0]);
    if (served !== this.#chainId) {
      this.#refusal = new WrongChainError(this.host, { asked: this.#chainId, served });
      throw this.#refusal;
    }
    this.#isVerified = true;
    this.#context.log.info({ host: this.host }, "an endpoint is up");
  }

  /** As `request`, repeated after a transport failure: for calls that are part of larger work. */
  async requestWithRetries(calls: readonly RpcCall[]): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.request(calls);
      } catch (thrown) {
        const isTransport = thrown instanceof EndpointError && thrown.isTransportFailure;
        if (!isTransport || tries === chainLimits.requestTriesMax || !this.isReachable)
          throw thrown;
      }
    }
  }

  /**
   * The same as `request`, of calls whose answers are of this chain only if the id in the same batch
   * is; if not, it throws an `inconsistent` `EndpointError`, and who the endpoint is has to be asked again.
   */
  async requestOfChain(calls: readonly RpcCall[], patience: Patience): Promise<Answer> {
    const { replies, bytes } = await this.request([chainIdCall, ...calls], patience);
    const served = readChainId(replies[0]);
    if (served === this.#chainId) return { replies: replies.slice(1), bytes };
    this.#isVerified = false;
    throw new EndpointError("inconsistent", `it serves chain ${served}, not ${this.#chainId}`);
  }

  /**
   * Makes the calls, in one batch where possible, and returns the replies in order. Throws an `EndpointError` when a
   * request failed as a whole, or a call because of the rate; the breaker counts it.
   */
  async request(calls: readonly RpcCall[], patience: Patience = this.patience): Promise<Answer> {
    this.#requests += 1;
    this.#calls += calls.length;
    this.#inFlight += 1;
    const startedMs = this.#context.clock.monotonicMs();
    const { timeoutMs } = patience;
    try {
      const answer = await this.#client.ask(calls, timeoutMs);
      const nowMs = this.#context.clock.monotonicMs();
      patience.noteAnswer?.(nowMs - startedMs);
      this.#link.succeed();
      this.#answeredAtMs = nowMs;
      this.#pacer.noteAnswer(nowMs);
      return answer;
    } catch (thrown) {
      if (thrown instanceof EndpointError) {
        if (thrown.kind === "timeout") patience.noteTimeout?.(timeoutMs);
        this.#noteFailure(thrown, startedMs);
      }
      throw thrown;
    } finally {
      this.#inFlight -= 1;
    }
  }

  noteGoodData(): void {
    this.#data.succeed();
  }

  /** An answer of it was wrong: it is left alone for a while. */
  noteBadData(error: Error): void {
    const nowMs = this.#context.clock.monotonicMs();
    this.#badAnswers += 1;
    this.#lastError = error.message;
    this.#data.fail(nowMs);
    // Who answers wrong as a rule does so for one block after the other.
    const kind = error.message.replaceAll(/(0x)?[0-9a-f]*[0-9][0-9a-f]*/g, "#");
    if (kind === this.#warned.kind && nowMs < this.#warned.atMs + sameWarningMs) return;
    this.#warned = { kind, atMs: nowMs };
    const line = { host: this.host, reason: error.message, badAnswers: this.#badAnswers };
    this.#context.log.warn(line, "an endpoint answered wrong");
  }

  /** The rate it grants; `null` while no limit is known. */
  get callsPerSecond(): number | null {
    return this.#pacer.callsPerSecond;
  }

  noteLatency(latencyMs: number): void {
    const before = this.#latencyMs ?? latencyMs;
    this.#latencyMs = before + (latencyMs - before) * latencyWeight;
  }

  /** Its socket seems to be dead although it says nothing of the kind. */
  replaceConnection(): void {
    this.#context.log.warn({ host: this.host }, "a silent connection is replaced");
    this.#transport.replace();
  }

  /** How it does, for metrics and people. Counts are since the start. */
  get status() {
    const nowMs = this.#context.clock.monotonicMs();
    const link = this.#link.state(nowMs);
    return {
      host: this.host,
      requests: this.#requests,
      calls: this.#calls,
      errors: this.#errors,
      /** Answers refused because of the rate; not errors. */
      rateLimited: this.#rateLimited,
      /** Answers that contradicted themselves, another endpoint or the chain. */
      badAnswers: this.#badAnswers,
      /** Sliding average of small requests; `null` before the first. */
      latencyMs: this.#latencyMs,
      breaker: link === "closed" ? this.#data.state(nowMs) : link,
      callsPerSecond: this.callsPerSecond,
      /** Blocks per request at present, and the provider's cap on them if it named one. */
      rangeBlocks: this.sizer.blocks(nowMs),
      rangeBlocksCap: this.sizer.capBlocks(nowMs),
      head: this.newest?.number ?? null,
      isHeadBelieved: this.isHeadBelieved,
      lastError: this.#lastError,
    };
  }

  #noteFailure(error: EndpointError, startedMs: number): void {
    const nowMs = this.#context.clock.monotonicMs();
    if (error.kind === "rate_limited") {
      this.#rateLimited += 1;
      this.#pacer.noteRefusal(error.retryAfterMs, nowMs);
      return;
    }
    this.#errors += 1;
    this.#lastError = error.message;
    if (error.kind === "oversized") return; // it was asked for too much
    if (this.#answeredAtMs > startedMs) return; // it answered other requests meanwhile
    const wasClosed = this.#link.state(nowMs) === "closed";
    this.#link.fail(nowMs);
    if (wasClosed && this.#link.state(nowMs) !== "closed") {
      this.#isVerified = false; // what comes back may be another node
      this.#client.forget();
      this.#context.log.warn({ host: this.host, reason: error.message }, "an endpoint is down");
    }
  }
}

function openTransport(url: URL, onHead: OnHead): Transport {
  const isWebSocket = url.protocol === "ws:" || url.protocol === "wss:";
  return isWebSocket ? WsTransport.open(url, onHead) : HttpTransport.open(url);
}

function readChainId(reply: RpcReply | undefined): number {
  const served = parseQuantity(resultOf(reply));
  if (served === null) throw new EndpointError("malformed", "a chain id is no quantity");
  return served;
}
