import { type Static, Type } from "typebox";

const text = Type.Union([Type.String(), Type.Null()]);
const milliseconds = Type.Union([Type.Integer(), Type.Null()]);

/** The fields of a market that come from the venue. */
export const metadataTexts = Type.Object({
  slug: text,
  category: text,
  tags: Type.Unsafe<readonly string[]>(Type.Array(Type.String())),
  eventId: text,
  eventSlug: text,
  eventTitle: text,
  /** The label of the market within its event, such as the name of a candidate. */
  outcomeLabel: text,
  /** Unix milliseconds. */
  startMs: milliseconds,
  endMs: milliseconds,
  /** The https URL of a picture. */
  image: text,
  question: text,
  description: text,
});
export type MetadataTexts = Readonly<Static<typeof metadataTexts>>;

/**
 * The venue's metadata of a market, which the chain does not prove. It is kept next to the data of the chain and
 * never replaces it. A text of the venue is used only where the chain has none.
 */
export type VenueMetadata = MetadataTexts & {
  /** The labels in the order of the tokens; `null` when the venue has no labels, or none for these tokens. */
  readonly outcomes: readonly string[] | null;
};
