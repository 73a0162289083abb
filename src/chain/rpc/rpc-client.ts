import { chainLimits } from "../../base/config/limits.ts";
import type { ChainContext } from "../chain-context.ts";
import { EndpointError } from "../chain-errors.ts";
import {
  BatchRefusedError,
  formatCalls,
  parseLoneReply,
  parseReplies,
  type RpcCall,
  type RpcReply,
} from "./json-rpc.ts";
import { classifyProviderError, resultOf } from "./provider-messages.ts";
import type { RequestPacer } from "./request-pacer.ts";
import type { Transport } from "./transport.ts";

/** One request in five may fail by chance; three in a row hardly do. */
const failuresByChance = 2;
/** How long a guess about batches is kept at first; doubled each time that it proves right. */
const guessKeptMs = 20_000;

/** The replies to calls in their order, and what all of them weighed on the wire. */
export type Answer = { readonly replies: readonly RpcReply[]; readonly bytes: number };

/** Sends calls to one endpoint, at its pace and in batches as large as it takes. */
export class RpcClient {
  readonly #transport: Transport;
  readonly #pacer: RequestPacer;
  readonly #context: ChainContext;
  /** Calls one request may hold, as far as is known. */
  #callsMax: number;
  /** The most calls of one request that was answered as the protocol says. */
  #callsProven = 0;
  /** Batches of more calls than that which failed in a row where smaller ones were answered. */
  #failedInRow = 0;
  /** How often that was taken for a refusal of batches. */
  #guesses = 0;
  /** Monotonic time from which larger batches are tried again after such a guess. */
  #guessUntilMs = Number.POSITIVE_INFINITY;
  #nextId = 1;
  /** Of what is known: grows when that is forgotten. */
  #generation = 0;

  constructor(parts: { transport: Transport; pacer: RequestPacer; context: ChainContext }) {
    this.#transport = parts.transport;
    this.#pacer = parts.pacer;
    this.#context = parts.context;
    this.#callsMax = parts.pacer.callsAtOnceMax;
  }

  /** What comes back may be another node, which takes other batches. */
  forget(): void {
    this.#generation += 1;
    this.#callsMax = this.#pacer.callsAtOnceMax;
    this.#callsProven = 0;
    this.#failedInRow = 0;
    this.#guesses = 0;
    this.#guessUntilMs = Number.POSITIVE_INFINITY;
  }

  /** The replies to all calls. Throws an `EndpointError`; `timeoutMs` is for each request. */
  async ask(calls: readonly RpcCall[], timeoutMs: number): Promise<Answer> {
    if (this.#context.clock.monotonicMs() >= this.#guessUntilMs) {
      this.#callsMax = this.#pacer.callsAtOnceMax;
      this.#guessUntilMs = Number.POSITIVE_INFINITY;
      this.#failedInRow = 0;
    }
    if (calls.length > this.#callsMax) return this.#askInParts(calls, this.#callsMax, timeoutMs);
    const generation = this.#generation;
    try {
      const answer = await this.#send(calls, timeoutMs);
      if (calls.length > this.#callsProven) {
        this.#callsProven = calls.length;
        this.#failedInRow = 0;
        this.#guesses = 0;
      }
      return answer;
    } catch (thrown) {
      if (calls.length === 1 || generation !== this.#generation) throw thrown;
      const refusal = this.#refusalOf(thrown, calls.length);
      return this.#askForLess(calls, refusal, timeoutMs);
    }
  }

  /**
   * Whether smaller batches may be taken where this one was not; else throws what was thrown. Not
   * all say that they read no batch: some hang up, answer with a page, with nothing, or not at all.
   */
  #refusalOf(thrown: unknown, calls: number): BatchRefusedError {
    if (thrown instanceof BatchRefusedError) return thrown;
    if (!(thrown instanceof EndpointError)) throw thrown;
    const { kind, message } = thrown;
    const isStrange = kind === "malformed" || kind === "unavailable" || kind === "oversized";
    const isSuspect =
      kind === "rejected" ||
      (isStrange && calls > this.#callsProven) ||
      (kind === "timeout" && this.#callsProven <= 1);
    if (!isSuspect) throw thrown;
    return new BatchRefusedError(message);
  }

  async #askForLess(
    calls: readonly RpcCall[],
    refusal: BatchRefusedError,
    timeoutMs: number,
  ): Promise<Answer> {
    const half = refusal.isCertain ? calls.length >> 1 : this.#callsProven;
    const callsMax = Math.max(1, Math.min(refusal.callsMax ?? half, calls.length - 1));
    if (refusal.isCertain) this.#callsMax = Math.min(this.#callsMax, callsMax);
    // A part at first: what says nothing of batches can have had another reason, which is then here too.
    const first = await this.ask(calls.slice(0, callsMax), timeoutMs);
    const rest = await this.#askInParts(calls.slice(callsMax), callsMax, timeoutMs);
    const answer = joined([first, rest]);
    if (!refusal.isCertain && answer.replies.every(isClear)) this.#guess(callsMax);
    return answer;
  }

  /** A larger batch failed. One does so by chance, where a wire fails now and then. */
  #guess(callsMax: number): void {
    this.#failedInRow += 1;
    if (this.#failedInRow <= failuresByChance) return;
    this.#callsMax = Math.min(this.#callsMax, callsMax);
    const keptMs = Math.min(chainLimits.capKeptMs, guessKeptMs * 2 ** this.#guesses);
    this.#guessUntilMs = this.#context.clock.monotonicMs() + keptMs;
    this.#guesses += 1;
  }

  /** Headers and logs can be of different moments then: that is what every check of them is for. */
  async #askInParts(
    calls: readonly RpcCall[],
    callsMax: number,
    timeoutMs: number,
  ): Promise<Answer> {
    const parts: (readonly RpcCall[])[] = [];
    for (let start = 0; start < calls.length; start += callsMax) {
      parts.push(calls.slice(start, start + callsMax));
    }
    const answers: Answer[] = [];
    for (let start = 0; start < parts.length; start += chainLimits.partsAtOnceMax) {
      const some = parts.slice(start, start + chainLimits.partsAtOnceMax);
      answers.push(...(await Promise.all(some.map((part) => this.ask(part, timeoutMs)))));
    }
    return joined(answers);
  }

  async #send(calls: readonly RpcCall[], timeoutMs: number): Promise<Answer> {
    await this.#awaitTurn(calls.length);
    const firstId = this.#nextId;
    this.#nextId += calls.length;
    const body = formatCalls(calls, firstId);
    const { value, bytes } = await this.#within(timeoutMs, (expired) =>
      this.#transport.exchange({ body, firstId }, expired),
    );
    if (calls.length > 1) throwIfRefused(value);
    const replies = parseReplies(value, { firstId, count: calls.length });
    for (const reply of replies) throwIfUnwell(reply);
    return { replies, bytes };
  }

  async #awaitTurn(calls: number): Promise<void> {
    const { clock, signal } = this.#context;
    let waitMs = this.#pacer.reserve(calls, clock.monotonicMs());
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    for (;;) {
      waitMs = this.#pacer.make(calls, clock.monotonicMs());
      if (waitMs === 0) return;
      await clock.sleep(waitMs, signal);
    }
  }

  /** Runs `run` with a signal that is aborted after `timeoutMs`, or when the source is closed. */
  async #within<T>(timeoutMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#context;
    const abort = new AbortController();
    const timer = new AbortController();
    const close = () => abort.abort(signal.reason);
    const expire = () => {
      abort.abort(new EndpointError("timeout", `no answer within ${Math.round(timeoutMs)} ms`));
    };
    signal.addEventListener("abort", close, { once: true });
    this.#passTime(timeoutMs, timer.signal).then(expire, () => {});
    try {
      return await run(abort.signal);
    } finally {
      timer.abort();
      signal.removeEventListener("abort", close);
    }
  }

  /** In steps: an answer that came while this process was busy is read between two of them. */
  async #passTime(ms: number, signal: AbortSignal): Promise<void> {
    const steps = 4;
    for (let step = 0; step < steps; step += 1) await this.#context.clock.sleep(ms / steps, signal);
  }
}

/** Whether it says nothing that might as well be why a batch with it failed. */
function isClear(reply: RpcReply): boolean {
  return reply.kind === "result" || classifyProviderError(reply).kind !== "unknown";
}

function joined(answers: readonly Answer[]): Answer {
  const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0);
  return { replies: answers.flatMap(({ replies }) => replies), bytes };
}

/** Throws when a batch as such got an answer, in place of its calls. */
function throwIfRefused(value: unknown): void {
  const lone = parseLoneReply(value);
  if (lone === null) return;
  throwIfUnwell(lone);
  const text = lone.kind === "error" ? `error ${lone.code}: ${lone.message}` : "a lone result";
  throw new BatchRefusedError(`a batch got ${text}`);
}

/** Some errors of a call are about the endpoint, or the request, as a whole. */
function throwIfUnwell(reply: RpcReply): void {
  if (reply.kind === "result") return;
  const verdict = classifyProviderError(reply);
  switch (verdict.kind) {
    case "batch_too_large":
      throw new BatchRefusedError(`error ${reply.code}: ${reply.message}`, verdict);
    case "rate_limited":
    case "unhealthy":
      resultOf(reply);
      return;
    case "too_large":
    case "too_slow":
    case "not_yet":
    case "unsupported":
    case "unknown":
  }
}
