import type { Seq, TokenId } from "../../base/ids.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { type BucketCandle, resolutionSeconds } from "../../market/candle.ts";
import { isTrade } from "../../market/fill.ts";
import { joinTokens } from "../../query/markets/read-markets.ts";
import { type CandleRange, readCandles } from "../../query/read-candles.ts";
import { readFills } from "../../query/read-fills.ts";
import { toCandleRow } from "../../rows/candle-row.ts";
import { formatTime } from "../../rows/wire-format.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import { type ChannelLog, type Entry, type Opening, pageThrough } from "../hub/channel.ts";

/**
 * Opens the `candles` channel: the candles of a pair at the prices of one token, with those of its mirror if requested,
 * each sent after every block that changes it. The position of a candle is that of its newest trade.
 */
export function openCandles({ request, sources, tokenIds }: Opening): ChannelLog {
  const [tokenId] = tokenIds;
  const { resolution, include_mirror: mirror = false } = request;
  if (tokenId === undefined || resolution === undefined) {
    throw invalid("channel.resolution", "is required");
  }
  const { facts, state } = sources;
  const { directory, dayWindow } = state;
  const bucketSeconds = resolutionSeconds[resolution];
  const toBucket = (timestamp: number) => timestamp - (timestamp % bucketSeconds);
  // Complement and mirror can become known later.
  const joinNow = () => joinTokens(directory, tokenId, { complement: true, mirror });
  const getTokens = () => Object.values(joinNow()).flat();
  const getTotals = (id: TokenId) => directory.getTotals(id);
  const read = (range: Pick<CandleRange, "from" | "order" | "limit">) => {
    const to = Number.MAX_SAFE_INTEGER;
    return readCandles(facts, { ...joinNow(), bucketSeconds, getTotals, to, ...range });
  };
  const toEntry = (one: BucketCandle): Entry => {
    const row = toCandleRow(one, { bucketSeconds, now: dayWindow.now });
    return { seq: one.candle.close.seq, json: JSON.stringify(row) };
  };
  return {
    event: "candle",
    // While the complement is unknown, any event can announce it.
    interest: () => ({ tokenIds: getTokens(), events: joinNow().inverted.length === 0 }),
    read: async ({ order, after, limit, restate }) => {
      if (order === "desc") return (await read({ from: 0, order, limit })).map(toEntry);
      const from = toBucket(await readTimeAt(facts, getTokens(), after));
      const found = await read({ from, order, limit: limit + 1 });
      const [first, ...rest] = found;
      if (first === undefined) return [];
      // The candle at the position itself is included on `restate`, and when a later candle has closed it.
      const isUnchanged = first.candle.close.seq <= (after ?? -1) && rest.length === 0 && !restate;
      return isUnchanged ? [] : found.map(toEntry);
    },
    revertedBy: (removed) => {
      const tokens = getTokens();
      const fills = removed.flatMap((block) => block.fills);
      const taken = fills.filter((fill) => isTrade(fill) && tokens.includes(fill.tokenId));
      return [...new Set(taken.map(({ timestamp }) => formatTime(toBucket(timestamp))))];
    },
  };
}

/** Reads the time of the newest trade at or before a position, in Unix seconds; 0 if there is none. */
async function readTimeAt(
  facts: IndexedFacts,
  tokenIds: readonly TokenId[],
  position: Seq | null,
): Promise<number> {
  if (position === null) return 0;
  const [newest] = await readFills(facts, {
    // Trades of 0 shares have no price and are in no candle.
    filter: { roles: ["maker", "direct"], tokenIds, sizeMin: 1n },
    ...pageThrough(position, 1),
  });
  return newest?.timestamp ?? 0;
}
