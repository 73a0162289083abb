/** What only the venue knows of a market. */
export type MetadataTexts = {
  readonly slug: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly eventId: string | null;
  readonly eventSlug: string | null;
  readonly eventTitle: string | null;
  /** What distinguishes the market within its event, such as the name of a candidate. */
  readonly outcomeLabel: string | null;
  /** Unix milliseconds. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** An address of a picture, of https. */
  readonly image: string | null;
  readonly question: string | null;
  readonly description: string | null;
};

/**
 * What the venue's market metadata says of a market and the chain may not. It is kept next to what the
 * chain proves and never in its place: text of the venue is shown where the chain has none.
 */
export type VenueMetadata = MetadataTexts & {
  /** Labels in the order of the tokens; `null` when it has none, or none of these tokens. */
  readonly outcomes: readonly string[] | null;
};
