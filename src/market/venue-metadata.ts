import type { CatalogueTexts } from "../catalog/parse-market.ts";

/**
 * What the venue's catalogue tells of a market and the chain may not. It stands beside what the
 * chain proves and never in its place: text of the venue is shown where the chain has none.
 */
export type VenueMetadata = CatalogueTexts & {
  /** Labels in the order of the tokens; `null` when it told none, or not of these tokens. */
  readonly outcomes: readonly string[] | null;
};
