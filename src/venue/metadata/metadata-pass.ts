/** A pass over one half of the venue's markets, page by page. Its progress survives restarts. */
import { hash } from "node:crypto";
import { metadataLimits } from "../../base/config/venue-limits.ts";
import type { ConditionId } from "../../base/ids.ts";
import type { MarketPage, MetadataPassHalf } from "./market-fetcher.ts";

/** The progress of a pass. */
export type MetadataPass = {
  readonly half: MetadataPassHalf;
  /** The cursor of the next page; `null` for the first. */
  readonly cursor: string | null;
};

/** The progress of reading market metadata. Unix seconds; `null` for never. */
export type MetadataProgress = {
  readonly pass: MetadataPass | null;
  readonly openReadAt: number | null;
  readonly closedReadAt: number | null;
};

export const noProgress: MetadataProgress = { pass: null, openReadAt: null, closedReadAt: null };

/**
 * Returns the pass to continue or the one that is due. `missing` is the number of markets that were never requested.
 */
export function duePass(
  { pass, openReadAt, closedReadAt }: MetadataProgress,
  { nowSeconds, missing }: { nowSeconds: number; missing: number },
): MetadataPass | null {
  const { openReadSeconds, closedReadSeconds, closedReadMissingMin } = metadataLimits;
  // A time far in the future is from a wall clock that was ahead.
  const isOld = (at: number | null, ageMax: number) =>
    at === null || Math.abs(nowSeconds - at) >= ageMax;
  if (pass !== null) return pass;
  if (isOld(openReadAt, openReadSeconds)) return getFirst("open");
  const isClosedDue = missing > closedReadMissingMin && isOld(closedReadAt, closedReadSeconds);
  return isClosedDue ? getFirst("closed") : null;
}

/**
 * Finds pages that bring nothing new, whatever their cursors say. It remembers markets as two bits of 2^24 each, so that
 * a page of new ones is never mistaken for a repeated one, even after millions.
 */
export class PageProgress {
  readonly #bits = new Uint8Array(2 ** 21);
  #barrenPages = 0;

  /** Whether the pass makes no progress: the page repeats markets, or is one of several without any. */
  isStuckAt({ markets, unreadable }: Pick<MarketPage, "markets" | "unreadable">): boolean {
    const isNew = markets.map(({ conditionId }) => this.#add(conditionId)).includes(true);
    this.#barrenPages = isNew ? 0 : this.#barrenPages + 1;
    const isRepeat = markets.length > 0 && unreadable === 0;
    return !isNew && (isRepeat || this.#barrenPages >= metadataLimits.barrenPagesMax);
  }

  /** Returns whether an id is new. */
  #add(conditionId: ConditionId): boolean {
    const digest = hash("sha1", conditionId);
    const isSet = [0, 6].map((offset) => {
      const bit = Number.parseInt(digest.slice(offset, offset + 6), 16);
      const before = this.#bits[bit >>> 3] ?? 0;
      this.#bits[bit >>> 3] = before | (1 << (bit & 7));
      return (before & (1 << (bit & 7))) !== 0;
    });
    return isSet.includes(false);
  }
}

/** Returns the progress after a pass has ended for any reason. The next pass starts at the first page. */
export function afterPass(
  progress: MetadataProgress,
  { half }: MetadataPass,
  nowSeconds: number,
): MetadataProgress {
  const readAt = half === "open" ? { openReadAt: nowSeconds } : { closedReadAt: nowSeconds };
  return { ...progress, ...readAt, pass: null };
}

function getFirst(half: MetadataPassHalf): MetadataPass {
  return { half, cursor: null };
}
