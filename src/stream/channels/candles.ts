import type { TokenId } from "../../base/ids.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import { type BucketCandle, resolutionSeconds } from "../../market/candle.ts";
import { isTrade } from "../../market/fill.ts";
import { readCandles } from "../../query/read-candles.ts";
import { readFills } from "../../query/read-fills.ts";
import { presentCandle } from "../../rows/candle-row.ts";
import { formatTime } from "../../rows/wire-format.ts";
import {
  type ChannelLog,
  type Entry,
  type Opening,
  pageThrough,
  type StreamSources,
} from "../hub/channel.ts";

/**
 * Opens the `candles` channel: the candles of a pair at the prices of one token, each sent after every block that
 * changes it.
 */
export function openCandles({ request, sources, tokenIds }: Opening): ChannelLog {
  const [tokenId] = tokenIds;
  const { resolution } = request;
  if (tokenId === undefined || resolution === undefined) {
    throw invalid("channel.resolution", "is required");
  }
  const log = new CandleLog(sources, tokenId, resolutionSeconds[resolution]);
  return {
    event: "candle",
    // While the complement is unknown, any event can announce it.
    interest: () => ({ tokenIds: log.pair, events: log.pair.length === 1 }),
    readAfter: async (after, { limit, restate }) => log.readAfter(after, limit, restate),
    readNewest: async (_through, count) => log.readNewest(count),
    revertedBy: (removed, rewindTo) => log.idsIn(removed, rewindTo),
  };
}

/** The candles of a pair as a log. The position of a candle is that of its newest trade. */
class CandleLog {
  readonly #sources: StreamSources;
  readonly #tokenId: TokenId;
  readonly #bucketSeconds: number;

  constructor(sources: StreamSources, tokenId: TokenId, bucketSeconds: number) {
    this.#sources = sources;
    this.#tokenId = tokenId;
    this.#bucketSeconds = bucketSeconds;
  }

  /** The token and its complement, once the complement is known. */
  get pair(): readonly TokenId[] {
    return this.#sources.state.directory.pairOf(this.#tokenId);
  }

  /**
   * Returns the candles that changed after a position. The candle at that position is included on `restate`, and when a
   * later candle has closed it.
   */
  async readAfter(after: number, limit: number, restate: boolean): Promise<readonly Entry[]> {
    const from = this.#bucketOf(await this.#timeAt(after));
    const found = await this.#read({ from, order: "asc", limit: limit + 1 });
    const [first, ...rest] = found;
    if (first === undefined) return [];
    const isUnchanged = first.candle.close.seq <= after && rest.length === 0 && !restate;
    return isUnchanged ? [] : found.map((one) => this.#entryOf(one));
  }

  async readNewest(count: number): Promise<readonly Entry[]> {
    const found = await this.#read({ from: 0, order: "desc", limit: count });
    return found.toReversed().map((one) => this.#entryOf(one));
  }

  idsIn(removed: readonly BlockFacts[], rewindTo: number): readonly string[] {
    const { pair } = this;
    const fills = removed.flatMap((block) => block.fills);
    const taken = fills.filter(
      (fill) => fill.seq > rewindTo && isTrade(fill) && pair.includes(fill.tokenId),
    );
    return [...new Set(taken.map((fill) => formatTime(this.#bucketOf(fill.timestamp))))];
  }

  #read(range: { from: number; order: "asc" | "desc"; limit: number }) {
    const [tokenId, complement = null] = [this.#tokenId, this.pair[1]];
    const bucketSeconds = this.#bucketSeconds;
    const { facts, state } = this.#sources;
    const totalsOf = (id: TokenId) => state.directory.totalsOf(id);
    const to = Number.MAX_SAFE_INTEGER;
    return readCandles(facts, { tokenId, complement, bucketSeconds, totalsOf, to, ...range });
  }

  /** Returns the time of the newest trade at or before a position, in Unix seconds; 0 if there is none. */
  async #timeAt(position: number): Promise<number> {
    if (position < 0) return 0;
    const [newest] = await readFills(this.#sources.facts, {
      // Trades of 0 shares have no price and are in no candle.
      filter: { roles: ["maker", "direct"], tokenIds: this.pair, sizeMin: 1n },
      ...pageThrough(position),
      limit: 1,
    });
    return newest?.timestamp ?? 0;
  }

  #bucketOf(timestamp: number): number {
    return timestamp - (timestamp % this.#bucketSeconds);
  }

  #entryOf({ bucket, candle }: BucketCandle): Entry {
    const isClosed = bucket + this.#bucketSeconds <= this.#sources.state.dayWindow.now;
    const row = presentCandle({ bucket, candle }, isClosed);
    return { seq: candle.close.seq, json: JSON.stringify(row) };
  }
}
