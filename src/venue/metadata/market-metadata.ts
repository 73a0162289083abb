import { metadataLimits } from "../../base/config/venue-limits.ts";
import { AppError, toError } from "../../base/errors.ts";
import type { ConditionId, TokenId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import { mapYielding } from "../../base/time/turns.ts";
import { VenueError } from "../venue-error.ts";
import { VenueHttp } from "../venue-http.ts";
import { fetchMarketPage, type MarketPage, type MarketPageRequest } from "./market-fetcher.ts";
import { afterPass, duePass, type MetadataProgress, PageProgress } from "./metadata-pass.ts";
import type { MetadataMarket } from "./parse-market.ts";

/** Where market metadata is stored. Times are Unix seconds. */
export type MetadataSink = {
  /** The progress of reading, stored together with the metadata. */
  progress: MetadataProgress;
  /** Whether no more metadata can be stored for a while. */
  readonly isFull: boolean;
  /** Returns up to `limit` markets to request: those never requested first, the newest of them first. */
  due(nowSeconds: number, limit: number): DueMarkets;
  recordAbsent(conditionIds: readonly ConditionId[], nowSeconds: number): void;
  /** Returns up to `limit` traded tokens of unknown markets to look up, the newest first. */
  dueTokens(nowSeconds: number, limit: number): readonly TokenId[];
  isUnknownToken(tokenId: TokenId): boolean;
  recordAbsentTokens(tokenIds: readonly TokenId[], nowSeconds: number): void;
  /** Returns the market, marked if it is unknown and to be added, because its token ids prove it. */
  prove(market: MetadataMarket, request: ProofRequest): MetadataMarket;
  /** Stores the metadata of a market, unless the market is unknown and not marked. */
  take(market: MetadataMarket, nowSeconds: number): void;
  /** Saves the metadata if a save is due. Called after each round. */
  saveIfDue(): void;
};

/**
 * Stores metadata for other processes before it is stored here. Throws `SERVICE_UNAVAILABLE`; the metadata is then
 * fetched again.
 */
export type PublishMetadata = (markets: readonly MetadataMarket[]) => Promise<void>;

/**
 * Why a market was received: for a token that was looked up, or as one of the most traded, which are requested without a
 * trade.
 */
export type ProofRequest = { readonly isRequested?: boolean; readonly isProofDue?: boolean };

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
  /** How many of the most traded open markets to add before their first trade. */
  readonly marketsMax: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Called once when reading has ended because of a bug or because metadata cannot be stored. */
  readonly onFailure: (error: Error) => void;
};

const halves = ["open", "closed"] as const;

/**
 * Fetches market metadata from the venue: of unknown traded tokens, of new markets by id, newest first, of the most
 * traded open ones at the start, and of all markets from time to time. No failure of the venue stops it.
 */
export class MarketMetadata {
  readonly #options: MarketMetadataOptions;
  readonly #http: VenueHttp;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** Passes that ended because pages repeat. */
  #loops = 0;
  #progress = new PageProgress();
  /** The cursor of the next page of the most traded markets, and how many of them are still wanted. */
  #top: { readonly cursor: string | null; readonly left: number } | null;
  readonly #topProgress = new PageProgress();
  /** Ids in one request. It halves when the venue rejects that many. */
  #idsMax: number = metadataLimits.lookupIdsMax;
  #due: readonly ConditionId[] = [];
  #missing = 0;
  #isFailing = false;
  #pages = 0;
  #unreadable = 0;

  private constructor(options: MarketMetadataOptions) {
    const { baseUrl, clock, random, log, marketsMax, onFailure } = options;
    this.#options = options;
    this.#top = marketsMax === 0 ? null : { cursor: null, left: marketsMax };
    const { requestsPer10Seconds } = metadataLimits;
    this.#http = new VenueHttp({ baseUrl, requestsPer10Seconds, clock, random });
    this.#running = this.#run(this.#closing.signal).catch((thrown: unknown) => {
      log.error({ err: toError(thrown) }, "fetching market metadata stopped; a restart resumes it");
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

  /** Requests some markets by token and by id, then reads a page; returns how long to wait before the next round. */
  async #round(signal: AbortSignal): Promise<number> {
    if (this.#options.sink.isFull) return metadataLimits.idleMs;
    try {
      const hasWorked = [
        await this.#lookUpTokens(signal),
        await this.#lookUp(signal),
        await this.#readTop(signal),
        await this.#readPage(signal),
      ];
      this.#isFailing = false;
      this.#options.sink.saveIfDue();
      return hasWorked.includes(true) ? 0 : metadataLimits.idleMs;
    } catch (thrown) {
      if (signal.aborted) return 0;
      if (!(thrown instanceof VenueError || thrown instanceof AppError)) throw thrown;
      if (!this.#isFailing)
        this.#options.log.warn(
          { reason: thrown.message },
          "market metadata is unavailable at the venue; retrying",
        );
      this.#isFailing = true;
      // After a failure of the venue, `VenueHttp` pauses the next request.
      return thrown instanceof VenueError ? 0 : metadataLimits.idleMs;
    }
  }

  async #lookUpTokens(signal: AbortSignal): Promise<boolean> {
    const { sink } = this.#options;
    let tokenIds = sink.dueTokens(this.#nowSeconds, this.#idsMax);
    if (tokenIds.length === 0) return false;
    for (const half of halves) {
      if (tokenIds.length === 0) break;
      const markets = await this.#askAll({ half, tokenIds }, signal);
      if (markets === null) return true;
      await this.#take(markets, { isRequested: true }, signal);
      tokenIds = tokenIds.filter((tokenId) => sink.isUnknownToken(tokenId));
    }
    sink.recordAbsentTokens(tokenIds, this.#nowSeconds);
    return true;
  }

  async #lookUp(signal: AbortSignal): Promise<boolean> {
    if (this.#due.length === 0) {
      const due = this.#options.sink.due(this.#nowSeconds, metadataLimits.dueMax);
      this.#due = due.conditionIds;
      this.#missing = due.missing;
    }
    const batch = this.#due.slice(0, this.#idsMax);
    if (batch.length === 0) return false;
    const absent = new Set(batch);
    for (const half of halves) {
      if (absent.size === 0) break;
      const page = await this.#askAll({ half, conditionIds: [...absent] }, signal);
      if (page === null) return true;
      const markets = page.filter(({ conditionId }) => absent.has(conditionId));
      await this.#take(markets, {}, signal);
      for (const { conditionId } of markets) absent.delete(conditionId);
    }
    this.#options.sink.recordAbsent([...absent], this.#nowSeconds);
    this.#due = this.#due.slice(batch.length);
    return true;
  }

  async #readTop(signal: AbortSignal): Promise<boolean> {
    const top = this.#top;
    if (top === null) return false;
    const request = { half: "open", cursor: top.cursor, isByVolume: true } as const;
    const page = await this.#ask(request, signal);
    const markets = page?.markets.slice(0, top.left) ?? [];
    await this.#take(markets, { isProofDue: true }, signal);
    const left = top.left - markets.length;
    const isLast = page === null || page.nextCursor === null || left === 0;
    this.#top =
      isLast || this.#topProgress.isStuckAt(page) ? null : { cursor: page.nextCursor, left };
    return true;
  }

  async #readPage(signal: AbortSignal): Promise<boolean> {
    const nowSeconds = this.#nowSeconds;
    const pass = duePass(this.#options.sink.progress, { nowSeconds, missing: this.#missing });
    if (pass === null) return false;
    if (pass.cursor === null) this.#progress = new PageProgress();
    const page = await this.#ask(pass, signal);
    if (page !== null) {
      this.#pages += 1;
      await this.#take(page.markets, {}, signal);
    }
    const cursor = page?.nextCursor ?? null;
    const isStuck = page !== null && cursor !== null && this.#progress.isStuckAt(page);
    if (isStuck) this.#loops += 1;
    const { progress } = this.#options.sink;
    this.#options.sink.progress =
      cursor === null || isStuck
        ? afterPass(progress, pass, nowSeconds)
        : { ...progress, pass: { ...pass, cursor } };
    return true;
  }

  /**
   * Fetches all pages of a request by ids; returns `null` if the venue rejects that many ids, so that the next request
   * has fewer.
   */
  async #askAll(
    request: MarketPageRequest,
    signal: AbortSignal,
  ): Promise<readonly MetadataMarket[] | null> {
    const found = new Map<ConditionId, MetadataMarket>();
    for (let cursor: string | null = null; ; ) {
      const page: MarketPage | null = await this.#ask({ ...request, cursor }, signal);
      if (page === null && this.#idsMax > 1) {
        this.#idsMax = Math.ceil(this.#idsMax / 2);
        return null;
      }
      const before = found.size;
      for (const market of page?.markets ?? []) found.set(market.conditionId, market);
      cursor = page?.nextCursor ?? null;
      const isOver = found.size === before || found.size >= metadataLimits.pageMarketsMax;
      if (cursor === null || isOver) return [...found.values()];
    }
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

  async #take(
    received: readonly MetadataMarket[],
    request: ProofRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { publish, sink } = this.#options;
    const markets = await mapYielding(received, (market) => sink.prove(market, request));
    await publish?.(markets);
    await mapYielding(markets, (market) => {
      signal.throwIfAborted();
      sink.take(market, this.#nowSeconds);
    });
  }

  get #nowSeconds(): number {
    return Math.floor(this.#options.clock.nowMs() / 1000);
  }
}
