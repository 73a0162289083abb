import { type VenueMarket, venueMarket } from "../test/support/scripted-metadata.ts";

/** A question as the venue's market metadata lists it. */
export type Listing = {
  readonly conditionId: string;
  /** Decimal. */
  readonly tokenIds: readonly string[];
  /** The venue's id of the question. */
  readonly venueId: number;
  readonly title: string;
  readonly description: string;
  readonly outcomes: readonly string[];
  readonly event: { readonly id: number; readonly title: string };
  /** The first is the category. */
  readonly tags: readonly string[];
  /** Unix seconds. */
  readonly opensAt: number;
  readonly closesAt: number;
  readonly isClosed: boolean;
};

/** Converts a listing to the venue's format. */
export function getVenueMarket(listing: Listing): VenueMarket {
  const { conditionId, tokenIds, venueId, title, description, outcomes, event } = listing;
  const [category] = listing.tags;
  const tags = listing.tags.map((label, index) => ({ id: String(index + 1), label }));
  return venueMarket({
    conditionId,
    tokenIds,
    outcomes,
    slug: toSlug(title, venueId),
    more: {
      id: String(venueId),
      question: title,
      description,
      startDate: new Date(listing.opensAt * 1000).toISOString(),
      endDate: new Date(listing.closesAt * 1000).toISOString(),
      image: null,
      category,
      tags,
      events: [{ id: String(event.id), slug: toSlug(event.title, event.id), title: event.title }],
      closed: listing.isClosed,
    },
  });
}

/** Returns a slug of ASCII letters and digits with dashes. The id makes the slugs of equal titles distinct. */
function toSlug(title: string, id: number): string {
  const plain = title.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? [];
  return [...words, id].join("-");
}
