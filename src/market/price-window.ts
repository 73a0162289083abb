/**
 * Questions without a text, which ask whether the price of a pair of assets is at the end of a window at least what it
 * was at its start. The chain logs the hash of such a question when its result is reported, so the question is found
 * by trying the pairs and windows that the venue uses.
 */
import type { Hash } from "../base/ids.ts";
import { toKeccak } from "./ids/keccak.ts";

export type PriceWindow = {
  /** Such as `BTC/USD`. */
  readonly pair: string;
  readonly durationSeconds: number;
  /** Unix seconds. */
  readonly startSeconds: number;
};

/** The labels of outcome 0 and outcome 1. An unchanged price is up. */
export const windowOutcomes = ["Up", "Down"] as const;

const prefix = "CHAINLINK_CANDLE";
const identifier = Buffer.from(prefix).toString("hex").padEnd(64, "0");
const symbols = ["BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "HYPE", "ADA", "AVAX", "LINK", "LTC"];
/** The contract accepts any id: its comments name the hash of `BTC/USD`, its tests the text `BTC_USD`. */
const listedPairs = symbols.flatMap((symbol) =>
  ["/", "_", "-"].flatMap((separator) => {
    const pair = `${symbol}/USD`;
    const bytes = Buffer.from(`${symbol}${separator}USD`);
    return [
      { pair, id: `0x${bytes.toString("hex").padEnd(64, "0")}` as Hash },
      { pair, id: toKeccak(bytes) },
    ];
  }),
);

const minute = 60;
const hour = 60 * minute;
const durations = [5 * minute, 15 * minute, hour, 4 * hour, 24 * hour];
/** How many starts before the newest possible one are tried: reports normally come within seconds. */
const startsMax = 4;

/**
 * Finds the window whose hash is `questionId` and that has ended by `reportedAt` (Unix seconds); `null` when it is
 * none of the usual ones. `assetPairs` are pairs that the chain has named, in addition to those that are known here.
 */
export function findPriceWindow(
  questionId: Hash,
  reportedAt: number,
  assetPairs: readonly Hash[],
): PriceWindow | null {
  const pairs = [...listedPairs, ...assetPairs.flatMap(getOtherPair)];
  for (let back = 0; back < startsMax; back += 1) {
    for (const durationSeconds of durations) {
      const step = Math.min(durationSeconds, hour);
      const newest = Math.floor((reportedAt - durationSeconds) / step);
      const startSeconds = (newest - back) * step;
      for (const { pair, id } of pairs) {
        const window = { pair, durationSeconds, startSeconds };
        if (getHash(id, window) === questionId) return window;
      }
    }
  }
  return null;
}

function getHash(id: Hash, { durationSeconds, startSeconds }: PriceWindow): Hash {
  const numbers = [durationSeconds, startSeconds].map((n) => n.toString(16).padStart(64, "0"));
  return toKeccak(Buffer.from(identifier + id.slice(2) + numbers.join(""), "hex"));
}

/** Reads the text of a pair that is not known here. The hash of a text cannot be read. */
function getOtherPair(id: Hash): readonly { readonly pair: string; readonly id: Hash }[] {
  const text = Buffer.from(id.slice(2).replace(/(00)+$/, ""), "hex").toString("latin1");
  const [, base, quote] = /^([A-Z0-9]{1,10})[/_-]([A-Z0-9]{1,10})$/.exec(text) ?? [];
  const isOther = base !== undefined && !listedPairs.some((pair) => pair.id === id);
  return isOther ? [{ pair: `${base}/${quote}`, id }] : [];
}
