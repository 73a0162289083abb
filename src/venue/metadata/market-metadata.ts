import { metadataLimits } from "../../base/config/venue-limits.ts";
import { AppError, toError } from "../../base/errors.ts";
import type { ConditionId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import { mapInTurns } from "../../base/time/turns.ts";
import { VenueError } from "../venue-error.ts";
import { VenueHttp } from "../venue-http.ts";
import { fetchMarketPage, type MarketPage, type MarketPageRequest } from "./market-fetcher.ts";
import { afterPage, afterPass, duePass, type MetadataProgress } from "./metadata-pass.ts";
import type { MetadataMarket } from "./parse-market.ts";

/** Where market metadata is stored. Times are Unix seconds. */
export type MetadataSink = {
  /** The progress of reading, stored together with the metadata. */
  progress: MetadataProgress;
  /** Whether no more metadata can be stored for a while. */
  readonly isFull: boolean;
  /** Returns up to `limit` markets to request: those never requested first, the newest of them first. */
  due(nowSeconds: number, limit: number): DueMarkets;
  /** Stores the metadata of a market, unless the market is unknown. */
  take(market: MetadataMarket, nowSeconds: number): void;
  noteAbsent(conditionIds: readonly ConditionId[], nowSeconds: number): void;
  /** Saves the metadata if a save is due. Called after each round. */
  saveIfDue(): void;
};

/**
 * Stores metadata for other processes before it is stored here. Throws `SERVICE_UNAVAILABLE`; the metadata is then
 * fetched again.
 */
export type PublishMetadata = (markets: readonly MetadataMarket[]) => Promise<void>;

/** The conditions to request next. */
export type DueMarkets = {
  readonly conditionIds: readonly ConditionId[];
  readonly missing: number;
};

type MarketMetadataOptions = {
  readonly baseUrl: string;
  readonly sink: MetadataSink;
  /** Undefined if there are no other processes. */
  readonly publish?: PublishMetadata | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Called once when reading has ended because of a bug or because metadata cannot be stored. */
  readonly onFailure: (error: Error) => void;
};

/**
 * Fetches market metadata from the venue: by id the markets that were never requested, the newest first, and from time
 * to time all markets. No failure of the venue stops it.
 */
export class MarketMetadata {
  readonly #options: MarketMetadataOptions;
  readonly #http: VenueHttp;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** Passes that ended because cursors repeat. */
  #loops = 0;
  #due: readonly ConditionId[] = [];
  #missing = 0;
  /** Whether the last round failed. */
  #isFailing = false;
  #pages = 0;
  #unreadable = 0;

  private constructor(options: MarketMetadataOptions) {
    const { baseUrl, clock, random, log, onFailure } = options;
    this.#options = options;
    const { requestsPer10Seconds } = metadataLimits;
    this.#http = new VenueHttp({ baseUrl, requestsPer10Seconds, clock, random });
    this.#running = this.#run(this.#closing.signal).catch((thrown: unknown) => {
      log.error({ err: toError(thrown) }, "market metadata is no longer fetched");
      onFailure(toError(thrown));
    });
  }

  static open(options: MarketMetadataOptions): MarketMetadata {
    return new MarketMetadata(options);
  }

  /** For metrics; counts are since the start. */
  get status() {
    const { requests, errors } = this.#http.status;
    return {
      requests,
      errors: this.#loops === 0 ? errors : { ...errors, cursor_loop: this.#loops },
      isUnavailable: this.#isFailing,
      pages: this.#pages,
      unreadable: this.#unreadable,
    };
  }

  /** Stops. Nothing is stored afterwards. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pauseMs = await this.#round(signal);
      // `sleep` fails only when the signal is aborted, which ends the loop.
      if (pauseMs > 0) await this.#options.clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  /** Requests some markets by id, then reads a page; returns how long to wait before the next round. */
  async #round(signal: AbortSignal): Promise<number> {
    if (this.#options.sink.isFull) return metadataLimits.idleMs;
    try {
      const hasAsked = await this.#lookUp(signal);
      const hasRead = await this.#readPage(signal);
      this.#isFailing = false;
      this.#options.sink.saveIfDue();
      return hasAsked || hasRead ? 0 : metadataLimits.idleMs;
    } catch (thrown) {
      if (signal.aborted) return 0;
      if (!(thrown instanceof VenueError || thrown instanceof AppError)) throw thrown;
      if (!this.#isFailing)
        this.#options.log.warn({ reason: thrown.message }, "market metadata is unavailable");
      this.#isFailing = true;
      // After a failure of the venue, `VenueHttp` pauses the next request.
      return thrown instanceof VenueError ? 0 : metadataLimits.idleMs;
    }
  }

  async #lookUp(signal: AbortSignal): Promise<boolean> {
    if (this.#due.length === 0) {
      const due = this.#options.sink.due(this.#nowSeconds, metadataLimits.dueMax);
      this.#due = due.conditionIds;
      this.#missing = due.missing;
    }
    const asked = this.#due.slice(0, metadataLimits.lookupIdsMax);
    if (asked.length === 0) return false;
    const absent = new Set(asked);
    for (const half of ["open", "closed"] as const) {
      if (absent.size === 0) break;
      const page = await this.#ask({ half, conditionIds: [...absent] }, signal);
      const markets = page?.markets.filter(({ conditionId }) => absent.has(conditionId)) ?? [];
      await this.#take(markets, signal);
      for (const { conditionId } of markets) absent.delete(conditionId);
    }
    this.#options.sink.noteAbsent([...absent], this.#nowSeconds);
    this.#due = this.#due.slice(asked.length);
    return true;
  }

  async #readPage(signal: AbortSignal): Promise<boolean> {
    const nowSeconds = this.#nowSeconds;
    const pass = duePass(this.#options.sink.progress, { nowSeconds, missing: this.#missing });
    if (pass === null) return false;
    const page = await this.#ask(pass, signal);
    if (page !== null) {
      this.#pages += 1;
      await this.#take(page.markets, signal);
    }
    const after = page === null ? null : afterPage(pass, page.nextCursor);
    if (after === "loop") this.#loops += 1;
    this.#options.sink.progress =
      after === null || after === "loop"
        ? afterPass(this.#options.sink.progress, pass, nowSeconds)
        : { ...this.#options.sink.progress, pass: after };
    return true;
  }

  /** Fetches a page; returns `null` if the venue rejects the request, so that a retry is useless. */
  async #ask(request: MarketPageRequest, signal: AbortSignal): Promise<MarketPage | null> {
    try {
      const page = await fetchMarketPage(this.#http, request, signal);
      this.#unreadable += page.unreadable;
      return page;
    } catch (thrown) {
      if (thrown instanceof VenueError && thrown.isRefusal) return null;
      throw thrown;
    }
  }

  async #take(markets: readonly MetadataMarket[], signal: AbortSignal): Promise<void> {
    await this.#options.publish?.(markets);
    await mapInTurns(markets, (market) => {
      signal.throwIfAborted();
      this.#options.sink.take(market, this.#nowSeconds);
    });
  }

  get #nowSeconds(): number {
    return Math.floor(this.#options.clock.nowMs() / 1000);
  }
}
