/**
 * Publishes the makers' books as the real venue does, for both tokens of a question, and the market metadata of the
 * questions.
 */
import { ScriptedVenue } from "../test/support/scripted-venue.ts";
import type { VenueBook, VenueSide } from "../test/support/venue-book.ts";
import { getVenueMarket, type Listing } from "./listing.ts";
import { getDirection, invertMilli, type Outcome } from "./order-book.ts";
import type { OpenBook, Simulation } from "./simulation.ts";

/** The units of one token by price, in thousandths of a dollar. */
type Levels = ReadonlyMap<number, number>;

const outcomes: readonly Outcome[] = [0, 1];

export class BookBoard {
  readonly #venue: ScriptedVenue;
  /** The tokens whose books are shown. */
  readonly #listed = new Set<string>();
  readonly #listings = new Map<string, Listing>();

  private constructor(venue: ScriptedVenue) {
    this.#venue = venue;
  }

  static async open(): Promise<BookBoard> {
    return new BookBoard(await ScriptedVenue.open());
  }

  /** The settings of a service that reads its books from here. */
  get settings(): Record<string, string> {
    return this.#venue.settings;
  }

  /** Publishes new questions and the changes of all books. Removes the books of questions that have ended. */
  show(simulation: Simulation): void {
    for (const listing of simulation.takeListings()) {
      this.#listings.set(listing.conditionId, listing);
      this.#venue.marketMetadata.put(getVenueMarket(listing));
    }
    const ended = new Set(this.#listed);
    for (const open of simulation.books()) {
      for (const tokenId of open.tokenIds) ended.delete(tokenId);
      this.#showBook(open);
      this.#showLiquidity(open);
    }
    for (const tokenId of ended) {
      this.#listed.delete(tokenId);
      this.#venue.removeBook(tokenId);
    }
  }

  async close(): Promise<void> {
    await this.#venue.close();
  }

  #showBook({ conditionId, tokenIds, book, lastMilli }: OpenBook): void {
    const changes = outcomes.flatMap((outcome) => {
      const assetId = tokenIds[outcome];
      if (assetId === undefined) return [];
      const published = this.#venue.book(assetId, conditionId);
      published.tickSize = "0.001";
      this.#listed.add(assetId);
      if (lastMilli !== null) this.#showTrade(published, invertMilli(lastMilli, outcome));
      return (["BUY", "SELL"] as const).flatMap((side) => {
        const levels = getLevels(book.levels(getDirection({ side, outcome })), outcome);
        return getChanges(published, side, levels);
      });
    });
    if (changes.length > 0) this.#venue.change(changes);
  }

  /** Updates the liquidity in the market metadata. */
  #showLiquidity({ conditionId, book }: OpenBook): void {
    const listing = this.#listings.get(conditionId);
    if (listing === undefined) return;
    const levels = [...book.levels("bid"), ...book.levels("ask")];
    const liquidityClob = levels.reduce((sum, [milli, units]) => sum + (milli * units) / 1e5, 0);
    this.#venue.marketMetadata.put({ ...getVenueMarket(listing), liquidityClob });
  }

  #showTrade(book: VenueBook, priceMilli: number): void {
    const price = String(priceMilli / 1000);
    if (book.lastTradePrice !== price) this.#venue.trade(book.assetId, price);
  }
}

function getLevels(levels: Levels, outcome: Outcome): Levels {
  return new Map([...levels].map(([milli, units]) => [invertMilli(milli, outcome), units]));
}

function getChanges(book: VenueBook, side: VenueSide, levels: Levels) {
  const requested = new Map(
    [...levels].map(([milli, units]) => [String(milli / 1000), String(units / 100)]),
  );
  const gone = book.levels(side).filter(({ price }) => !requested.has(price));
  return [
    ...gone.map(({ price }) => ({ assetId: book.assetId, side, price, size: "0" })),
    ...[...requested]
      .filter(([price, size]) => book.sizeAt(side, price) !== size)
      .map(([price, size]) => ({ assetId: book.assetId, side, price, size })),
  ];
}
