import { breakers, chainLimits } from "../../base/config/limits.ts";
import { roundToThousandths } from "../../base/round.ts";
import type { ChainContext } from "../chain-context.ts";
import { EndpointError, WrongChainError } from "../chain-errors.ts";
import { type Header, parseHeader } from "../parse/parse-header.ts";
import { parseQuantity } from "../parse/parse-hex.ts";
import type { BlockRef } from "../raw-log.ts";
import { AdaptiveTimeout, type RequestTimeout } from "./adaptive-timeout.ts";
import { Breaker, type BreakerState } from "./breaker.ts";
import {
  type EndpointProblem,
  type EndpointState,
  type EndpointView,
  fails,
} from "./endpoint-state.ts";
import { getResult, type RpcCall, type RpcReply } from "./json-rpc.ts";
import { RangeSizer } from "./range-sizer.ts";
import { RequestPacer } from "./request-pacer.ts";
import { type Answer, RpcClient } from "./rpc-client.ts";
import type { OpenTransport, Transport } from "./transport.ts";

/** The endpoint to ask, and its limits. */
export type EndpointOptions = {
  readonly url: URL;
  /** Shown in place of the URL, which can contain secrets: host and port, with `#2` and so on for further ones. */
  readonly host: string;
  readonly chainId: number;
  /** The operator's budget; `null` is no limit. */
  readonly callsPerSecondMax: number | null;
  /** How far the time of a block may be ahead of our clock, in seconds; a quarter of an hour by default. */
  readonly aheadSecondsMax?: number | undefined;
  readonly context: ChainContext;
  readonly openTransport: OpenTransport;
};

const chainIdCall: RpcCall = { method: "eth_chainId", params: [] };
const latencyWeight = 0.2;
/** Minimum time between warnings about wrong answers that differ only in numbers. */
const sameWarningMs = 60_000;

/**
 * One node or provider, with a breaker for each way to fail: `link` for requests, `socket` for sockets that it closes
 * although they answer, `data` for wrong answers.
 */
export class Endpoint {
  readonly host: string;
  readonly sizer = new RangeSizer();
  readonly timeout = new AdaptiveTimeout();
  /** The timeout of requests with small answers, which are repeated soon. */
  readonly smallTimeout = new AdaptiveTimeout(chainLimits.headTimeoutMs);
  readonly #state: { -readonly [Field in keyof EndpointState]: EndpointState[Field] };
  #onHead: (head: BlockRef) => void = () => {};

  readonly #chainId: number;
  readonly #aheadSecondsMax: number;
  readonly #context: ChainContext;
  readonly #transport: Transport;
  readonly #pacer: RequestPacer;
  #client: RpcClient;
  readonly #link: Breaker;
  readonly #socket: Breaker;
  readonly #data: Breaker;
  #inFlight = 0;
  #isVerified = false;
  #refusal: WrongChainError | null = null;
  /** Metrics, since the start. */
  readonly #counts = { requests: 0, calls: 0, errors: 0, invalid_responses: 0 };
  #latencyMs: number | null = null;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  /** Monotonic time at which it last closed a socket. */
  #lostAtMs = Number.NEGATIVE_INFINITY;
  /** What was wrong with the last wrong answer. */
  #flaw = "";
  /** The last warning about wrong answers, without its numbers, and its monotonic time. */
  #warned = { kind: "", atMs: 0 };

  /** Sends nothing yet. */
  constructor(options: EndpointOptions) {
    const { random, clock } = options.context;
    this.#state = {
      view: null,
      newest: null,
      roseAtMs: 0,
      observedAtMs: clock.monotonicMs(),
      levelAtMs: clock.monotonicMs(),
      isHeadBelieved: true,
      areLogTimesBelieved: true,
      isOutvoted: false,
    };
    this.host = options.host;
    this.#chainId = options.chainId;
    this.#aheadSecondsMax = options.aheadSecondsMax ?? chainLimits.aheadSecondsMax;
    this.#context = options.context;
    this.#pacer = new RequestPacer(options.callsPerSecondMax);
    this.#link = new Breaker({ ...breakers.link, random });
    this.#socket = new Breaker({ ...breakers.socket, random });
    this.#data = new Breaker({ ...breakers.data, random });
    this.#transport = options.openTransport(
      options.url,
      (head) => this.#onHead(head),
      (reason) => this.#recordLostSocket(reason),
    );
    this.#client = new RpcClient(this.#transport, this.#pacer, options.context);
  }

  close(): void {
    this.#transport.close();
  }

  get state(): EndpointState {
    return this.#state;
  }

  /** Calls `listener` with each head that its socket announces. */
  onHead(listener: (head: BlockRef) => void): void {
    this.#onHead = listener;
  }

  recordView(view: EndpointView): void {
    this.#state.view = view;
    this.#state.observedAtMs = this.#context.clock.monotonicMs();
  }

  /** Records that the head of the last poll is near the believed one. */
  recordLevel(): void {
    this.#state.levelAtMs = this.#state.observedAtMs;
  }

  /** Records a block that it reported as its newest. */
  recordNewest({ number, hash }: BlockRef): void {
    const isHigher = number > (this.#state.newest?.number ?? -1);
    if (isHigher) this.#state.roseAtMs = this.#context.clock.monotonicMs();
    this.#state.newest = { number, hash };
  }

  /** Replaces its newest block, unless it has reported another one than `before` since. */
  replaceNewest(before: BlockRef | null, newest: BlockRef): void {
    if (this.#state.newest === before) this.#state.newest = newest;
  }

  /** Whether its head is believed, compared with those of the others. */
  judgeHead(isBelieved: boolean): void {
    this.#state.isHeadBelieved = isBelieved;
  }

  /** Whether the majority has another hash for a final block. If so, its data is wrong. */
  judgeFinal(isOutvoted: boolean, number: number): void {
    this.#state.isOutvoted = isOutvoted;
    const message = `final block ${number} is of another fork`;
    if (isOutvoted) this.recordBadData(new EndpointError("inconsistent", message));
  }

  /** The times that come with its logs are not used again. */
  distrustLogTimes(): void {
    this.#state.areLogTimesBelieved = false;
  }

  /** The error if it serves another chain, after which it is never used again; else `null`. */
  get refusal(): WrongChainError | null {
    return this.#refusal;
  }

  get isAnnouncing(): boolean {
    return this.#transport.isAnnouncing;
  }

  /** Whether it can be asked about the chain. It can still be paused for other reasons. */
  get isReachable(): boolean {
    const nowMs = this.#context.clock.monotonicMs();
    const isUp = this.#isVerified && this.#link.state(nowMs) === "closed";
    return isUp && this.#socket.state(nowMs) !== "open";
  }

  /** Whether it is reachable or was observed recently. Only then does its head count among those that are compared. */
  get isPresent(): boolean {
    if (this.#refusal !== null) return false;
    const silentMs = this.#context.clock.monotonicMs() - this.#state.observedAtMs;
    return this.isReachable || silentMs <= chainLimits.endpointAbsenceMsMax;
  }

  /** Whether it answers, and correctly. A request can still have to wait for its turn. */
  get isHealthy(): boolean {
    return this.problem === null;
  }

  /** Why it cannot be asked for now; `null` if it can. */
  get problem(): EndpointProblem | null {
    const nowMs = this.#context.clock.monotonicMs();
    if (this.#refusal !== null) return fails("serves another chain");
    if (this.#socket.state(nowMs) === "open") return fails("closes its connections");
    if (!this.isReachable) return fails("does not answer");
    if (!this.#state.isHeadBelieved) return fails("claims a head far above those of the others");
    if (this.#state.isOutvoted) return fails("is on another fork than most endpoints");
    if (this.#data.state(nowMs) === "open") return fails(`returned wrong data (${this.#flaw})`);
    if (this.#pacer.pausedMs(nowMs) <= chainLimits.pauseMsMax) return null;
    return { isPause: true, text: this.#pacer.describePause(this.#context.clock) };
  }

  /** Whether it can be asked now. */
  get isUsable(): boolean {
    const waitMs = this.#pacer.waitMs(this.#context.clock.monotonicMs());
    const isFree =
      waitMs <= chainLimits.pauseMsMax && this.#inFlight < chainLimits.concurrentRequestsMax;
    return this.isHealthy && isFree;
  }

  /** The estimated cost of a request in milliseconds; less is better. */
  get cost(): number {
    const waitMs = this.#pacer.waitMs(this.#context.clock.monotonicMs());
    return (waitMs + (this.#latencyMs ?? 1_000)) * (1 + this.#inFlight);
  }

  /** Whether its head can be polled now. This also admits the one probe after failures. */
  tryProbe(): boolean {
    const nowMs = this.#context.clock.monotonicMs();
    if (this.#refusal !== null || this.#pacer.pausedMs(nowMs) > chainLimits.pauseMsMax)
      return false;
    return this.#socket.state(nowMs) !== "open" && this.#link.tryPass(nowMs);
  }

  /** Asks for its chain id unless it is verified already. Throws `WrongChainError` if it is of another chain. */
  async verify(): Promise<void> {
    if (this.#isVerified) return;
    const { replies } = await this.request([chainIdCall], this.smallTimeout);
    const served = parseChainId(replies[0]);
    if (served !== this.#chainId) {
      this.#refusal = new WrongChainError(this.host, { requested: this.#chainId, served });
      throw this.#refusal;
    }
    this.#isVerified = true;
    this.#context.log.info({ host: this.host }, "endpoint connected");
  }

  /** Like `request`, but repeats after a transport failure. For calls that are part of larger work. */
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
   * Like `request`, but checks the chain id in the same batch. If it is of another chain, throws an `inconsistent`
   * `EndpointError`, and the endpoint has to be verified again.
   */
  async requestOfChain(calls: readonly RpcCall[], timeout: RequestTimeout): Promise<Answer> {
    const { replies, bytes } = await this.request([chainIdCall, ...calls], timeout);
    const served = parseChainId(replies[0]);
    if (served === this.#chainId) return { replies: replies.slice(1), bytes };
    this.#isVerified = false;
    throw new EndpointError("inconsistent", `it serves chain ${served}, not ${this.#chainId}`);
  }

  /**
   * Makes the calls, in one batch if possible, and returns the replies in order. Throws an `EndpointError` when a whole
   * request fails, or a call because of the rate. The breaker counts failures, the pacer refusals.
   */
  async request(
    calls: readonly RpcCall[],
    timeout: RequestTimeout = this.timeout,
  ): Promise<Answer> {
    this.#counts.requests += 1;
    this.#counts.calls += calls.length;
    this.#inFlight += 1;
    const startedMs = this.#context.clock.monotonicMs();
    const { timeoutMs } = timeout;
    try {
      const answer = await this.#client.ask(calls, timeoutMs);
      const nowMs = this.#context.clock.monotonicMs();
      timeout.recordAnswer?.(nowMs - startedMs);
      this.#link.succeed();
      if (nowMs - this.#lostAtMs > chainLimits.socketKeptMs) this.#socket.succeed();
      this.#answeredAtMs = nowMs;
      return answer;
    } catch (thrown) {
      if (thrown instanceof EndpointError) {
        if (thrown.kind === "timeout") timeout.recordTimeout?.(timeoutMs);
        this.#recordFailure(thrown, startedMs);
      }
      throw thrown;
    } finally {
      this.#inFlight -= 1;
    }
  }

  /**
   * Reads a header from a reply of this endpoint; `null` if it does not have the block. Throws an `EndpointError`,
   * `inconsistent` when the time of the block has not come yet.
   */
  readHeader(reply: RpcReply | undefined): Header | null {
    const header = parseHeader(getResult(reply));
    if (header === null) return null;
    const aheadSeconds = header.timestamp - Math.floor(this.#context.clock.nowMs() / 1000);
    if (aheadSeconds <= this.#aheadSecondsMax) return header;
    const message = `block ${header.number} is ${aheadSeconds} s ahead of the clock of this machine`;
    throw new EndpointError("inconsistent", message);
  }

  recordGoodData(): void {
    this.#data.succeed();
  }

  /** Records a wrong answer and pauses the endpoint. */
  recordBadData(error: Error): void {
    const nowMs = this.#context.clock.monotonicMs();
    this.#counts.invalid_responses += 1;
    // The texts of providers can contain secrets, and anyone can read readiness.
    const isOurText = error instanceof EndpointError && error.kind !== "refused";
    this.#flaw = isOurText ? error.message : "see the log";
    this.#data.fail(nowMs);
    // A faulty endpoint gives wrong answers about one block after the other.
    const kind = error.message.replaceAll(/(0x)?[0-9a-f]*[0-9][0-9a-f]*/g, "#");
    if (kind === this.#warned.kind && nowMs < this.#warned.atMs + sameWarningMs) return;
    this.#warned = { kind, atMs: nowMs };
    const line = {
      host: this.host,
      reason: error.message,
      badAnswers: this.#counts.invalid_responses,
    };
    this.#context.log.warn(line, "endpoint returned wrong data");
  }

  /** The calls per second that it allows; `null` while no limit is known. */
  get callsPerSecond(): number | null {
    return this.#pacer.callsPerSecond;
  }

  recordLatency(latencyMs: number): void {
    const before = this.#latencyMs ?? latencyMs;
    this.#latencyMs = before + (latencyMs - before) * latencyWeight;
  }

  /** Replaces a socket that seems dead although it reports no error. */
  replaceConnection(): void {
    this.#context.log.warn({ host: this.host }, "endpoint announces no blocks; reconnecting");
    this.#transport.replace();
  }

  /** The values of the metrics of an endpoint, by their names. Any key can read them: no texts of providers. */
  get metrics() {
    const nowMs = this.#context.clock.monotonicMs();
    const states = [this.#link, this.#socket, this.#data].map((breaker) => breaker.state(nowMs));
    const breaker: BreakerState = states.find((state) => state !== "closed") ?? "closed";
    return {
      host: this.host,
      ...this.#counts,
      rate_limited: this.#pacer.refusals,
      latency_ms: this.#latencyMs && roundToThousandths(this.#latencyMs),
      breaker_state: breaker,
      calls_per_second_max: this.callsPerSecond,
      range_blocks: this.sizer.blocks(nowMs),
      range_blocks_max: this.sizer.capBlocks(nowMs),
      head_block: this.#state.newest?.number ?? null,
    };
  }

  /** Lets an endpoint that closes one socket after the other be connected less and less often. */
  #recordLostSocket(reason: string): void {
    const nowMs = this.#context.clock.monotonicMs();
    this.#lostAtMs = nowMs;
    const wasClosed = this.#socket.state(nowMs) === "closed";
    this.#socket.fail(nowMs);
    if (!wasClosed || this.#socket.state(nowMs) === "closed") return;
    const line = { host: this.host, reason };
    this.#context.log.warn(line, "endpoint keeps closing its WebSocket; reconnecting less often");
  }

  #recordFailure(error: EndpointError, startedMs: number): void {
    const nowMs = this.#context.clock.monotonicMs();
    if (error.kind === "rate_limited") return;
    this.#counts.errors += 1;
    if (error.kind === "oversized") return; // the request was too large
    if (this.#answeredAtMs > startedMs) return; // it answered other requests meanwhile
    const wasClosed = this.#link.state(nowMs) === "closed";
    this.#link.fail(nowMs);
    if (this.#link.state(nowMs) === "closed") return;
    this.#transport.replace(); // a socket can announce heads and never answer
    if (wasClosed) {
      // After an outage it may be another node. Requests that began before it teach nothing about that one.
      this.#isVerified = false;
      this.#client = new RpcClient(this.#transport, this.#pacer, this.#context);
      this.#context.log.warn({ host: this.host, reason: error.message }, "endpoint is down");
    }
  }
}

function parseChainId(reply: RpcReply | undefined): number {
  const served = parseQuantity(getResult(reply));
  if (served === null) throw new EndpointError("malformed", "a chain id is not a quantity");
  return served;
}
