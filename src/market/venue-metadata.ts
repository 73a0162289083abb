/**
 * What the venue's catalogue tells of a market and the chain does not. It stands beside what the
 * chain proves and never in its place: text of the venue is shown where the chain has none.
 */
export type VenueMetadata = {
  readonly slug: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly eventId: string | null;
  readonly eventSlug: string | null;
  /** Unix milliseconds. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** An address of a picture, as the venue gives it. */
  readonly image: string | null;
  readonly question: string | null;
  readonly description: string | null;
};
