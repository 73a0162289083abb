import { chainLimits } from "../../base/config/limits.ts";
import { mapInOrder } from "../../base/time/map-in-order.ts";
import type { ChainContext } from "../chain-context.ts";
import { EndpointError } from "../chain-errors.ts";
import {
  formatCalls,
  parseReplies,
  parseSingleReply,
  type RpcCall,
  type RpcReply,
} from "./json-rpc.ts";
import { ProviderError, type ProviderVerdict } from "./provider-messages.ts";
import type { RequestPacer } from "./request-pacer.ts";
import type { Transport } from "./transport.ts";

/** Up to one request in five can fail by chance, but three in a row rarely do. */
const failuresByChance = 2;
/** How long the first guess about batches is kept. Each further guess is kept twice as long. */
const guessKeptMs = 20_000;

/** The replies in the order of the calls, and the total size of their answers, decompressed. */
export type Answer = { readonly replies: readonly RpcReply[]; readonly bytes: number };

type BatchRefusal = Extract<ProviderVerdict, { kind: "batch_too_large" }>;

/** Sends calls to one endpoint, at its pace and in batches as large as it accepts. Learns that size from failures. */
export class RpcClient {
  /** Unique among all clients, since one can replace another on the same connection. */
  static #nextId = 1;
  readonly #transport: Transport;
  readonly #pacer: RequestPacer;
  readonly #context: ChainContext;
  /** The most calls that the endpoint accepts in one request, as far as is known. */
  #callsMax = Number.POSITIVE_INFINITY;
  /** The most calls in one request that got a valid answer. */
  #callsProven = 0;
  /** How many larger batches in a row failed and were then answered in smaller ones. */
  #failedInRow = 0;
  /** How often such failures were taken for a refusal of larger batches. */
  #guesses = 0;
  /** Monotonic time from which larger batches are tried again after such a guess. */
  #guessUntilMs = Number.POSITIVE_INFINITY;

  constructor(transport: Transport, pacer: RequestPacer, context: ChainContext) {
    this.#transport = transport;
    this.#pacer = pacer;
    this.#context = context;
  }

  /**
   * Sends all calls, if necessary in several requests, and returns their replies. `timeoutMs` applies to each request.
   * Throws an `EndpointError`.
   */
  async ask(calls: readonly RpcCall[], timeoutMs: number): Promise<Answer> {
    if (this.#context.clock.monotonicMs() >= this.#guessUntilMs) {
      this.#callsMax = Number.POSITIVE_INFINITY;
      this.#guessUntilMs = Number.POSITIVE_INFINITY;
      this.#failedInRow = 0;
    }
    if (calls.length > this.#callsMax) return this.#askInParts(calls, this.#callsMax, timeoutMs);
    const answers: Answer[] = [];
    for (let done = 0, refusals = 0; done < calls.length; ) {
      const allowed = await this.#pacer.awaitTurn(calls.length - done, this.#context);
      try {
        answers.push(await this.#askNow(calls.slice(done, done + allowed), timeoutMs));
        done += allowed;
        refusals = 0;
      } catch (thrown) {
        refusals += 1;
        // Repeated only if answers would be lost; otherwise another endpoint may be quicker.
        const isWorthWaiting = done > 0 && refusals < chainLimits.requestTriesMax;
        if (!isWorthWaiting || !this.#isShortPause(thrown)) throw thrown;
      }
    }
    return joined(answers);
  }

  async #askNow(calls: readonly RpcCall[], timeoutMs: number): Promise<Answer> {
    try {
      const answer = await this.#send(calls, timeoutMs);
      if (calls.length > this.#callsProven) {
        this.#callsProven = calls.length;
        this.#failedInRow = 0;
        this.#guesses = 0;
      }
      return answer;
    } catch (thrown) {
      if (calls.length === 1) throw thrown;
      const refusal = this.#toRefusal(thrown, calls.length);
      return this.#askForLess(calls, refusal, timeoutMs);
    }
  }

  /**
   * Returns the refusal of a batch if the endpoint says so, and `null` if smaller batches may succeed where this one
   * failed; else rethrows. Not every node says that it reads no batches: some hang up, answer with an HTML page or an
   * empty body, or do not answer.
   */
  #toRefusal(thrown: unknown, calls: number): BatchRefusal | null {
    if (!(thrown instanceof EndpointError)) throw thrown;
    if (thrown instanceof ProviderError && thrown.verdict.kind === "batch_too_large")
      return thrown.verdict;
    const { kind } = thrown;
    const isStrange = kind === "malformed" || kind === "unavailable" || kind === "oversized";
    const isSuspect =
      kind === "rejected" ||
      (isStrange && calls > this.#callsProven) ||
      (kind === "timeout" && this.#callsProven <= 1);
    if (!isSuspect) throw thrown;
    return null;
  }

  async #askForLess(
    calls: readonly RpcCall[],
    refusal: BatchRefusal | null,
    timeoutMs: number,
  ): Promise<Answer> {
    const fewer = refusal === null ? this.#callsProven : (refusal.callsMax ?? calls.length >> 1);
    const callsMax = Math.max(1, Math.min(fewer, calls.length - 1));
    if (refusal !== null) this.#callsMax = Math.min(this.#callsMax, callsMax);
    // One part first: if the failure was not about batches, this part fails too, and the others are not sent.
    const first = await this.ask(calls.slice(0, callsMax), timeoutMs);
    const rest = await this.#askInParts(calls.slice(callsMax), callsMax, timeoutMs);
    const answer = joined([first, rest]);
    if (refusal === null && answer.replies.every(isClear)) this.#guess(callsMax);
    return answer;
  }

  /** Records that a larger batch failed. Limits batches only after several in a row: one can fail by chance. */
  #guess(callsMax: number): void {
    this.#failedInRow += 1;
    if (this.#failedInRow <= failuresByChance) return;
    this.#callsMax = Math.min(this.#callsMax, callsMax);
    const keptMs = Math.min(chainLimits.capKeptMs, guessKeptMs * 2 ** this.#guesses);
    this.#guessUntilMs = this.#context.clock.monotonicMs() + keptMs;
    this.#guesses += 1;
  }

  /** Sends calls in several requests. Headers and logs can then be of different moments; the checks of R4 detect it. */
  async #askInParts(
    calls: readonly RpcCall[],
    callsMax: number,
    timeoutMs: number,
  ): Promise<Answer> {
    const parts: (readonly RpcCall[])[] = [];
    for (let start = 0; start < calls.length; start += callsMax) {
      parts.push(calls.slice(start, start + callsMax));
    }
    const ask = (part: readonly RpcCall[]) => this.ask(part, timeoutMs);
    const answers: Answer[] = [];
    for await (const answer of mapInOrder(parts, ask, chainLimits.partsAtOnceMax)) {
      answers.push(answer);
    }
    return joined(answers);
  }

  /** Whether the rate was refused, and the endpoint can be asked again soon. */
  #isShortPause(thrown: unknown): boolean {
    if (!(thrown instanceof EndpointError) || thrown.kind !== "rate_limited") return false;
    return this.#pacer.pausedMs(this.#context.clock.monotonicMs()) <= chainLimits.pauseMsMax;
  }

  async #send(calls: readonly RpcCall[], timeoutMs: number): Promise<Answer> {
    try {
      const answer = await this.#exchange(calls, timeoutMs);
      this.#pacer.recordAnswer(calls.length, this.#context.clock.monotonicMs());
      return answer;
    } catch (thrown) {
      if (thrown instanceof EndpointError && thrown.kind === "rate_limited") {
        this.#pacer.recordRefusal(thrown.retryAfterMs, this.#context.clock.monotonicMs());
      }
      throw thrown;
    }
  }

  async #exchange(calls: readonly RpcCall[], timeoutMs: number): Promise<Answer> {
    const firstId = RpcClient.#nextId;
    RpcClient.#nextId += calls.length;
    const body = formatCalls(calls, firstId);
    const { value, bytes } = await this.#within(timeoutMs, (expired) =>
      this.#transport.exchange({ body, firstId }, expired),
    );
    if (calls.length > 1) throwIfRejected(value);
    const replies = parseReplies(value, { firstId, count: calls.length });
    for (const reply of replies) throwIfUnwell(reply);
    return { replies, bytes };
  }

  /** Runs `run` with a signal that is aborted after `timeoutMs`, or when the source is closed. */
  async #within<T>(timeoutMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const expiry = new AbortController();
    const timer = new AbortController();
    const expire = () => {
      expiry.abort(new EndpointError("timeout", `no answer within ${Math.round(timeoutMs)} ms`));
    };
    this.#passTime(timeoutMs, timer.signal).then(expire, () => {});
    try {
      return await run(AbortSignal.any([this.#context.signal, expiry.signal]));
    } finally {
      timer.abort();
    }
  }

  /** Waits in steps, so that an answer that came while this process was busy is read between two of them. */
  async #passTime(ms: number, signal: AbortSignal): Promise<void> {
    const steps = 4;
    for (let step = 0; step < steps; step += 1) await this.#context.clock.sleep(ms / steps, signal);
  }
}

/** Whether the reply cannot be the reason why its batch failed: a result, or an error of a known kind. */
function isClear(reply: RpcReply): boolean {
  return reply.kind === "result" || reply.error.verdict.kind !== "unknown";
}

function joined(answers: readonly Answer[]): Answer {
  const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0);
  return { replies: answers.flatMap(({ replies }) => replies), bytes };
}

/** Throws when the answer is one reply to the whole batch instead of replies to its calls. */
function throwIfRejected(value: unknown): void {
  const single = parseSingleReply(value);
  if (single === null) return;
  throwIfUnwell(single);
  const text = single.kind === "error" ? single.error.message : "a lone result";
  throw new EndpointError("rejected", `a batch got ${text}`);
}

const unwell: readonly ProviderVerdict["kind"][] = ["batch_too_large", "rate_limited", "unhealthy"];

/** Throws when the error of a call is about the endpoint or about the whole request. */
function throwIfUnwell(reply: RpcReply): void {
  if (reply.kind === "error" && unwell.includes(reply.error.verdict.kind)) throw reply.error;
}
