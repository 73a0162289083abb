import type { VenueMetadata } from "../../src/market/venue-metadata.ts";

/** Market metadata in which every field is empty. */
export const noMetadata: VenueMetadata = {
  slug: null,
  category: null,
  tags: [],
  eventId: null,
  eventSlug: null,
  eventTitle: null,
  outcomeLabel: null,
  startMs: null,
  endMs: null,
  image: null,
  question: null,
  description: null,
  outcomes: null,
};
