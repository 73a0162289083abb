/** Reading a half of the catalogue through, page by page; kept between lives of the process. */
import { catalogueLimits } from "../base/venue-limits.ts";
import type { CatalogueHalf } from "./market-fetcher.ts";

/** Where a pass stands. */
export type CataloguePass = {
  readonly half: CatalogueHalf;
  /** What the next page is asked for with; `null` for the first. */
  readonly cursor: string | null;
  readonly pages: number;
  /** An earlier cursor, that of a page whose number is a power of 2. */
  readonly anchor: string | null;
};

/** How far reading has come. Unix seconds; `null` for never. */
export type CatalogueProgress = {
  readonly pass: CataloguePass | null;
  readonly openReadAt: number | null;
  readonly closedReadAt: number | null;
};

export const noProgress: CatalogueProgress = { pass: null, openReadAt: null, closedReadAt: null };

/** The pass to go on with, or the one that is due; `missing` is how many were never asked for. */
export function duePass(
  { pass, openReadAt, closedReadAt }: CatalogueProgress,
  { nowSeconds, missing }: { nowSeconds: number; missing: number },
): CataloguePass | null {
  const { openReadSeconds, closedReadSeconds, closedReadMissingMin } = catalogueLimits;
  const isOld = (at: number | null, ageMax: number) => at === null || nowSeconds - at >= ageMax;
  if (pass !== null) return pass;
  if (isOld(openReadAt, openReadSeconds)) return firstOf("open");
  const isClosedDue = missing > closedReadMissingMin && isOld(closedReadAt, closedReadSeconds);
  return isClosedDue ? firstOf("closed") : null;
}

/**
 * The pass after a page was read; `null` when that was the last, `loop` when pages repeat. Cursors
 * that go in a circle come back to the anchor, which moves further and further (after Brent).
 */
export function afterPage(pass: CataloguePass, next: string | null): CataloguePass | "loop" | null {
  if (next === null) return null;
  const pages = pass.pages + 1;
  const isSeen = next === pass.cursor || next === pass.anchor;
  if (isSeen || pages >= catalogueLimits.passPagesMax) return "loop";
  const isPowerOf2 = Number.isInteger(Math.log2(pages));
  return { ...pass, cursor: next, pages, anchor: isPowerOf2 ? next : pass.anchor };
}

/** What is known once a pass is over, for whatever reason: the next one begins at the front. */
export function afterPass(
  progress: CatalogueProgress,
  { half }: CataloguePass,
  nowSeconds: number,
): CatalogueProgress {
  const readAt = half === "open" ? { openReadAt: nowSeconds } : { closedReadAt: nowSeconds };
  return { ...progress, ...readAt, pass: null };
}

function firstOf(half: CatalogueHalf): CataloguePass {
  return { half, cursor: null, pages: 0, anchor: null };
}
