import { formatTokenId } from "../src/base/ids.ts";
import { type Venue, venues } from "./addresses.ts";
import type { DemoChain } from "./demo-chain.ts";
import { type EventSeries, eventSeries } from "./event-series.ts";
import { type OpenQuestion, openEvent, type Result, resolveQuestion } from "./events.ts";
import { getChances, strengthsFor, walk } from "./fair-odds.ts";
import type { Listing } from "./listing.ts";
import { type Holdings, invertMilli, OrderBook } from "./order-book.ts";
import { Random } from "./random.ts";
import { cancel, settle, split, type Terms } from "./settle.ts";
import { requote, stockMakers, takeOnce } from "./traders.ts";

/** An open event. Each series has one at any time. */
type OpenEvent = {
  readonly seriesIndex: number;
  readonly closesAt: number;
  readonly questions: readonly OpenQuestion[];
  /** One strength for each question. If an event has only one question, a second strength is for its second outcome. */
  readonly strengths: readonly number[];
  readonly walkedTo: number;
};

/** The state that a later process needs to resume. The books are rebuilt. */
export type SimulationState = {
  readonly random: number;
  readonly serial: number;
  readonly events: readonly OpenEvent[];
  /** The venue's listings, because the service can request all of them again. */
  readonly listings: readonly Listing[];
  /** What traders hold of open questions, by condition id. */
  readonly holdings: readonly (readonly [conditionId: string, Holdings])[];
};

/** The book of an open question. */
export type OpenBook = {
  readonly conditionId: string;
  /** Decimal. */
  readonly tokenIds: readonly string[];
  readonly book: OrderBook;
  /** The price of the last trade, for the first outcome; `null` if there was none since the start. */
  readonly lastMilli: number | null;
};

/** A time of the chain and the end of the simulated past, after which trading is in real time. Unix seconds. */
export type Moment = { readonly seconds: number; readonly pastEndsAt: number };

const firstVenueId = 700_000;
/** The questions of one event have consecutive ids. */
const venueIdsPerEvent = 10;
/**
 * In the simulated past short events last this many times longer, so that a day has dozens of them and not hundreds. An
 * event that would then end after the past keeps its normal length.
 */
const pastInterval = 12;
const shortMinutesMax = 300;
const cancelChance = 0.1;
const abandonedChance = 0.05;

/** The market of the demo. It never reads a clock, so a history can be played at any speed. */
export class Simulation {
  readonly #chain: DemoChain;
  readonly #random: Random;
  readonly #books = new Map<string, OrderBook>();
  readonly #lastMilli = new Map<string, number>();
  readonly #events: OpenEvent[];
  /** The listings of all questions, by condition id. */
  readonly #listings: Map<string, Listing>;
  #news: Listing[];
  #serial: number;

  private constructor(chain: DemoChain, state: SimulationState) {
    this.#chain = chain;
    this.#random = new Random(state.random);
    this.#events = [...state.events];
    this.#serial = state.serial;
    this.#news = [...state.listings];
    for (const [id, holdings] of state.holdings) this.#books.set(id, new OrderBook(holdings));
    this.#listings = new Map(this.#news.map((listing) => [listing.conditionId, listing]));
  }

  /** Opens the first event of every series, in one block. */
  static async open(chain: DemoChain, seed: number, moment: Moment): Promise<Simulation> {
    const state = { random: seed, serial: 0, events: [], listings: [], holdings: [] };
    const simulation = new Simulation(chain, state);
    for (const seriesIndex of eventSeries.keys()) {
      simulation.#events.push(await simulation.#openNext(seriesIndex, moment));
    }
    await chain.mine(moment.seconds);
    return simulation;
  }

  static resume(chain: DemoChain, state: SimulationState): Simulation {
    return new Simulation(chain, state);
  }

  get state(): SimulationState {
    return {
      random: this.#random.state,
      serial: this.#serial,
      events: this.#events,
      listings: [...this.#listings.values()],
      holdings: [...this.#books].map(([id, { holdings }]) => [id, holdings] as const),
    };
  }

  /** Adds makers' orders to the books that have none. After a restart those are all books. */
  openBooks(seconds: number): void {
    for (const { questions, strengths, closesAt } of this.#events) {
      const chances = getChances(strengths, closesAt - seconds);
      for (const [index, question] of questions.entries()) {
        const chance = chances[index];
        const book = this.#getBook(question);
        if (chance === undefined || book.count("bid") + book.count("ask") > 0) continue;
        requote(book, chance, this.#random);
      }
    }
  }

  /** Returns the books that are open now. */
  books(): OpenBook[] {
    const questions = this.#events.flatMap((event) => event.questions);
    return questions.flatMap(({ conditionId, tokenIds }) => {
      const book = this.#books.get(conditionId);
      if (book === undefined) return [];
      const lastMilli = this.#lastMilli.get(conditionId) ?? null;
      return [{ conditionId, tokenIds: tokenIds.map(formatTokenId), book, lastMilli }];
    });
  }

  /** Returns the listings that are new or changed since the last call. */
  takeListings(): readonly Listing[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }

  /** Advances to a later moment: resolves the events that are due, lets takers trade, and mines a block of it all. */
  async step(moment: Moment, takersMax: number): Promise<void> {
    for (const [index, event] of this.#events.entries()) {
      const moved = this.#move(event, moment.seconds);
      const isDue = moment.seconds >= event.closesAt;
      if (isDue) await this.#resolve(moved);
      this.#events[index] = isDue ? await this.#openNext(event.seriesIndex, moment) : moved;
    }
    for (let left = 1 + this.#random.below(takersMax); left > 0; left -= 1) {
      await this.#trade(moment.seconds);
    }
    await this.#chain.mine(moment.seconds);
  }

  #move(event: OpenEvent, seconds: number): OpenEvent {
    const walkedTo = Math.min(seconds, event.closesAt);
    const strengths = walk(event.strengths, walkedTo - event.walkedTo, this.#random);
    return { ...event, strengths, walkedTo };
  }

  async #openNext(seriesIndex: number, moment: Moment): Promise<OpenEvent> {
    const series = seriesAt(seriesIndex);
    const { seconds } = moment;
    const { opensAt, closesAt } = getSpan(series, moment, 0.6 + 0.8 * this.#random.next());
    const draft = series.draft(this.#serial, new Date(opensAt * 1000), new Date(closesAt * 1000));
    const venueId = firstVenueId + venueIdsPerEvent * this.#serial;
    this.#serial += 1;
    const venue = venues[series.venue];
    const questions = await openEvent(this.#chain, draft, { venue, venueId });
    const event = { id: venueId, title: draft.title };
    for (const [index, question] of questions.entries()) {
      const { conditionId, tokenIds } = question;
      const terms = getTerms(question, series);
      for (const [owner, units] of stockMakers(this.#getBook(question), this.#random))
        await this.#chain.send(split(owner, units, terms));
      const { title = draft.title, outcomes = [] } = draft.questions[index] ?? {};
      this.#list({
        conditionId,
        tokenIds: tokenIds.map(formatTokenId),
        venueId: venueId + index,
        title,
        description: draft.description,
        outcomes,
        event,
        tags: series.tags,
        opensAt,
        closesAt,
        isClosed: false,
      });
    }
    const chances = draft.questions.map(({ chance }) => chance);
    const [only = 0, ...others] = chances;
    const all = others.length > 0 ? chances : [only, 1 - only];
    const strengths = strengthsFor(all, closesAt - seconds);
    return { seriesIndex, closesAt, questions, strengths, walkedTo: seconds };
  }

  async #resolve({ seriesIndex, questions, strengths }: OpenEvent): Promise<void> {
    const series = seriesAt(seriesIndex);
    const venue = venues[series.venue];
    const winner = strengths.indexOf(Math.max(...strengths));
    const isAbandoned = series.canBeAbandoned && this.#random.chance(abandonedChance);
    for (const [index, question] of questions.entries()) {
      const result: Result = isAbandoned ? "both" : index === winner ? "first" : "second";
      await resolveQuestion(this.#chain, question, { venue, result });
      this.#books.delete(question.conditionId);
      this.#lastMilli.delete(question.conditionId);
      const listing = this.#listings.get(question.conditionId);
      if (listing !== undefined) this.#list({ ...listing, isClosed: true });
    }
  }

  #list(listing: Listing): void {
    this.#news.push(listing);
    this.#listings.set(listing.conditionId, listing);
  }

  async #trade(seconds: number): Promise<void> {
    const event = this.#random.pickWeighted(
      this.#events,
      ({ seriesIndex }) => seriesAt(seriesIndex).popularity,
    );
    const chances = getChances(event.strengths, event.closesAt - seconds);
    const index = this.#random.below(event.questions.length);
    const question = event.questions[index];
    const chance = chances[index];
    if (question === undefined || chance === undefined) return;
    const book = this.#getBook(question);
    const terms = getTerms(question, seriesAt(event.seriesIndex));
    const withdrawn = requote(book, chance, this.#random);
    const found = takeOnce(book, this.#random);
    if (found !== null) {
      await this.#chain.send(settle(found, terms));
      const last = found.fills.at(-1)?.order;
      const lastMilli = last && invertMilli(last.priceMilli, last.outcome);
      if (lastMilli !== undefined) this.#lastMilli.set(question.conditionId, lastMilli);
    }
    if (terms.venue.generation !== 1) return;
    for (const order of withdrawn) {
      if (this.#random.chance(cancelChance)) await this.#chain.send(cancel(order, terms));
    }
  }

  #getBook({ conditionId }: OpenQuestion): OrderBook {
    const book = this.#books.get(conditionId) ?? new OrderBook();
    this.#books.set(conditionId, book);
    return book;
  }
}

/** Returns when the next event of a series begins and ends. `variation` scales its length; it is around 1. */
function getSpan(series: EventSeries, moment: Moment, variation: number) {
  const { seconds, pastEndsAt } = moment;
  const spanFor = (length: number) => {
    const closesAt = series.isAligned
      ? (Math.floor(seconds / length) + 1) * length
      : seconds + Math.round(length * variation);
    return { opensAt: series.isAligned ? closesAt - length : seconds, closesAt };
  };
  const span = spanFor(60 * series.minutes);
  const stretched = spanFor(60 * series.minutes * pastInterval);
  const isShort = series.minutes <= shortMinutesMax;
  return isShort && stretched.closesAt <= pastEndsAt ? stretched : span;
}

function getTerms({ conditionId, tokenIds }: OpenQuestion, series: EventSeries): Terms {
  const venue: Venue = venues[series.venue];
  return { venue, conditionId, tokenIds, feeRateBps: series.feeRateBps };
}

function seriesAt(index: number): EventSeries {
  const series = eventSeries[index];
  if (series === undefined) throw new RangeError(`there is no series ${index}`);
  return series;
}
