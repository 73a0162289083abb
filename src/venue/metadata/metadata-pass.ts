/** A pass over one half of the venue's markets, page by page. Its progress survives restarts. */
import { metadataLimits } from "../../base/config/venue-limits.ts";
import type { MetadataPassHalf } from "./market-fetcher.ts";

/** The progress of a pass. */
export type MetadataPass = {
  readonly half: MetadataPassHalf;
  /** The cursor of the next page; `null` for the first. */
  readonly cursor: string | null;
  readonly pages: number;
  /** The cursor of the last page whose number was a power of 2. */
  readonly anchor: string | null;
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
  if (isOld(openReadAt, openReadSeconds)) return firstOf("open");
  const isClosedDue = missing > closedReadMissingMin && isOld(closedReadAt, closedReadSeconds);
  return isClosedDue ? firstOf("closed") : null;
}

/**
 * Returns the pass after a page was read; `null` after the last page, `loop` when pages repeat. Cursors that form a
 * cycle return to the anchor, which moves at powers of 2 (Brent's algorithm).
 */
export function afterPage(pass: MetadataPass, next: string | null): MetadataPass | "loop" | null {
  if (next === null) return null;
  const pages = pass.pages + 1;
  const isSeen = next === pass.cursor || next === pass.anchor;
  if (isSeen || pages >= metadataLimits.passPagesMax) return "loop";
  const isPowerOf2 = Number.isInteger(Math.log2(pages));
  return { ...pass, cursor: next, pages, anchor: isPowerOf2 ? next : pass.anchor };
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

function firstOf(half: MetadataPassHalf): MetadataPass {
  return { half, cursor: null, pages: 0, anchor: null };
}
