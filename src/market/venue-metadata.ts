/** The fields of a market that come from the venue. */
export type MetadataTexts = {
  readonly slug: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly eventId: string | null;
  readonly eventSlug: string | null;
  readonly eventTitle: string | null;
  /** The label of the market within its event, such as the name of a candidate. */
  readonly outcomeLabel: string | null;
  /** Unix milliseconds. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** The https URL of a picture. */
  readonly image: string | null;
  readonly question: string | null;
  readonly description: string | null;
};

/**
 * The venue's metadata of a market, which the chain does not prove. It is kept next to the data of the
 * chain and never replaces it: text of the venue is used only where the chain has none.
 */
export type VenueMetadata = MetadataTexts & {
  /** The labels in the order of the tokens; `null` when the venue has no labels, or none for these tokens. */
  readonly outcomes: readonly string[] | null;
};
