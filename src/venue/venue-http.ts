import { venueBackoff, venueLimits } from "../base/config/venue-limits.ts";
import { fetchFailure, toError } from "../base/errors.ts";
import { parseJson } from "../base/json.ts";
import { KindCounts } from "../base/metrics/kind-counts.ts";
import type { Clock } from "../base/time/clock.ts";
import { backoffMs, parseRetryAfter } from "../base/time/retry.ts";
import { VenueError, type VenueErrorKind } from "./venue-error.ts";

/** One request; `path` is below the base URL and may have a query. */
export type VenueRequest<Answer> = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** JSON. */
  readonly body?: string;
  /** Reads the JSON of the response; `null` when it is not of the expected form. */
  readonly read: (json: unknown) => Answer | null;
};

type VenueHttpOptions = {
  readonly baseUrl: string;
  /** How many requests to send in 10 seconds, on average: a share of the venue's published rate. */
  readonly requestsPer10Seconds: number;
  readonly clock: Clock;
  readonly random: () => number;
};

/** Statuses that reject a single request. All others concern the venue, such as 403 from a firewall in front of it. */
const rejections: ReadonlySet<number> = new Set([400, 413, 414, 422]);

/**
 * Sends requests to one base URL of the venue, with JSON bodies, at a limited rate. After a failure all requests pause,
 * longer each time, and at least as long as `Retry-After` says, up to a limit. No request is repeated: the next one
 * shows whether the venue is back. Callers bound how many requests wait (`concurrentRequestsMax`).
 */
export class VenueHttp {
  readonly #baseUrl: string;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #spacingMs: number;
  readonly #errors = new KindCounts<VenueErrorKind>();
  #requests = 0;
  /** The number of failures in a row, and the end of the pause that they cause for all requests. */
  #failures = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** When the next request would be due if requests were evenly spaced. */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor({ baseUrl, requestsPer10Seconds, clock, random }: VenueHttpOptions) {
    this.#baseUrl = baseUrl.replace(/\/$/, "");
    this.#clock = clock;
    this.#random = random;
    this.#spacingMs = 10_000 / requestsPer10Seconds;
  }

  /** Counts since the start. */
  get status() {
    return { requests: this.#requests, errors: this.#errors.toRecord() };
  }

  /** Whether a request would have to wait for the end of a pause. */
  get isPaused(): boolean {
    return this.#clock.monotonicMs() < this.#pausedUntilMs;
  }

  /**
   * Waits for its turn, sends the request and returns what it reads. Throws `VenueError`, or the reason of `signal`.
   */
  async fetch<Answer>(request: VenueRequest<Answer>, signal: AbortSignal): Promise<Answer> {
    await this.#waitForTurn(signal);
    const startedMs = this.#clock.monotonicMs();
    this.#requests += 1;
    try {
      const answer = request.read(await this.#exchange(request, signal));
      if (answer === null) throw new VenueError("malformed", "an answer of an unexpected form");
      this.#failures = 0;
      return answer;
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toVenueError(thrown);
      this.#recordFailure(error, startedMs);
      throw error;
    }
  }

  async #waitForTurn(signal: AbortSignal): Promise<void> {
    for (;;) {
      const nowMs = this.#clock.monotonicMs();
      const waitMs = Math.max(this.#pausedUntilMs - nowMs, this.#paceMs(nowMs));
      if (waitMs <= 0) break;
      await this.#clock.sleep(waitMs, signal).catch(() => signal.throwIfAborted());
    }
    signal.throwIfAborted();
    this.#dueMs = Math.max(this.#dueMs, this.#clock.monotonicMs()) + this.#spacingMs;
  }

  /** Returns how long to wait. Short bursts are allowed; on average requests are evenly spaced. */
  #paceMs(nowMs: number): number {
    return this.#dueMs - nowMs - this.#spacingMs * venueLimits.requestsInBurstMax;
  }

  async #exchange(request: VenueRequest<unknown>, signal: AbortSignal): Promise<unknown> {
    const { method, path, body = null } = request;
    const timeout = AbortSignal.timeout(venueLimits.requestTimeoutMs);
    const response = await fetch(this.#baseUrl + path, {
      method,
      body,
      headers: {
        accept: "application/json",
        "accept-encoding": "gzip",
        "user-agent": "oddwire",
        ...(body === null ? {} : { "content-type": "application/json" }),
      },
      redirect: "manual",
      signal: AbortSignal.any([signal, timeout]),
    });
    const bytes = await readBody(response);
    if (response.ok) return parseBody(bytes);
    const retryAfterMs = parseRetryAfter(response.headers.get("retry-after") ?? undefined);
    throw new VenueError(getKind(response.status), `HTTP ${response.status}`, { retryAfterMs });
  }

  #recordFailure({ kind, isRefusal, retryAfterMs }: VenueError, startedMs: number): void {
    this.#errors.add(kind);
    if (isRefusal) {
      this.#failures = 0;
      return;
    }
    // A request that was in progress when the pause began adds no information.
    if (startedMs < this.#pausedUntilMs && retryAfterMs === null) return;
    const ownMs = backoffMs(this.#failures, venueBackoff, this.#random);
    this.#failures += 1;
    const requestedMs = Math.min(retryAfterMs ?? 0, venueLimits.retryAfterMsMax);
    const untilMs = this.#clock.monotonicMs() + Math.max(ownMs, requestedMs);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
  }
}

function toVenueError(thrown: unknown): VenueError {
  if (thrown instanceof VenueError) return thrown;
  return new VenueError("unavailable", fetchFailure(toError(thrown)), { cause: thrown });
}

/** Reads the decompressed body. The size limit applies after decompression. */
async function readBody({ body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > venueLimits.responseBytesMax) {
      throw new VenueError(
        "oversized",
        `an answer of more than ${venueLimits.responseBytesMax} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function getKind(status: number): VenueErrorKind {
  if (status === 404) return "not_found";
  if (status === 429) return "rate_limited";
  return rejections.has(status) ? "refused" : "unavailable";
}

function parseBody(body: Buffer): unknown {
  try {
    return parseJson(body.toString("utf8"));
  } catch (cause) {
    throw new VenueError("malformed", "an answer that is not JSON", { cause });
  }
}
