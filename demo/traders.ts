/** The behavior of traders: makers quote around the fair price, and takers fill their orders. */
import type { Address } from "viem";
import { traders } from "./addresses.ts";
import {
  type Direction,
  type Fill,
  getDirection,
  getSide,
  invertMilli,
  type Order,
  type OrderBook,
  type Outcome,
} from "./order-book.ts";
import type { Random } from "./random.ts";

export type Match = { readonly taker: Order; readonly fills: readonly Fill[] };

const makers = traders.slice(0, 12);
/** How many makers split collateral into both outcomes when a market opens, and their shares. */
const splittersCount = 3;
const splitShares = { median: 1500, spread: 0.6 };
const takers = traders.slice(12);
const levelsMax = 7;
const makerShares = { median: 350, spread: 0.9 };
const takerShares = { median: 300, spread: 1.4 };
const sharesMax = 20_000;
/** The distance of orders from the fair price, in thousandths of a dollar: the least, and the average beyond that. */
const nearestMilli = 4;
const depthMilli = 14;

/** Lets some makers split collateral, so that they have shares to sell. Returns the units of each. */
export function stockMakers(book: OrderBook, random: Random): ReadonlyMap<Address, number> {
  const splits = new Map<Address, number>();
  while (splits.size < splittersCount)
    splits.set(random.pick(makers), getUnits(splitShares, random));
  for (const [owner, units] of splits) {
    for (const outcome of [0, 1] as const) book.move(owner, outcome, units);
  }
  return splits;
}

/** Moves the makers' orders to the fair price of the first outcome. Returns the orders that were withdrawn. */
export function requote(book: OrderBook, fair: number, random: Random): Order[] {
  const fairMilli = Math.min(Math.max(fair * 1000, 15), 985);
  const gone = book.withdraw((order, priceMilli) => {
    const distance =
      getDirection(order) === "bid" ? fairMilli - priceMilli : priceMilli - fairMilli;
    return distance < nearestMilli / 2 || random.chance(0.1);
  });
  for (const direction of ["bid", "ask"] as const) {
    while (book.count(direction) < levelsMax) {
      const order = quote(book, { direction, fairMilli }, random);
      book.add(order, order.units);
    }
  }
  return gone;
}

/**
 * Sends the order of one taker; returns `null` if nothing matches. The rest of the order stays in the book if it does
 * not cross.
 */
export function takeOnce(book: OrderBook, random: Random): Match | null {
  const direction: Direction = random.chance(0.5) ? "bid" : "ask";
  const units = getUnits(takerShares, random);
  const owner = random.pick(takers);
  const liked: Outcome = random.chance(0.65) ? 0 : 1;
  const outcome = chooseOutcome(book, { owner, direction, units }, liked);
  const fills = book.take(direction, units);
  const last = fills.at(-1)?.order;
  if (last === undefined) return null;
  const worstMilli = invertMilli(last.priceMilli, last.outcome);
  // The limit is a little worse than needed, so that a fill is certain. The taker gets the better price anyway.
  const slackMilli = 10 * random.below(3) * (direction === "bid" ? 1 : -1);
  const limitMilli = Math.min(Math.max(worstMilli + slackMilli, 1), 999);
  const taker: Order = {
    salt: getSalt(random),
    owner,
    outcome,
    side: getSide(direction, outcome),
    priceMilli: invertMilli(limitMilli, outcome),
    units,
  };
  for (const fill of fills) deliver(book, fill.order, fill.units);
  const left = units - fills.reduce((sum, fill) => sum + fill.units, 0);
  deliver(book, taker, units - left);
  if (left > 0 && !wouldCross(book, direction, limitMilli)) book.add(taker, left);
  return { taker, fills };
}

/** A fee in shares may take up to this part of a purchase, so it is never sold. */
const feeShareMax = 0.1;

function deliver(book: OrderBook, { owner, outcome, side }: Order, units: number): void {
  const delta = side === "SELL" ? -units : Math.floor(units * (1 - feeShareMax));
  book.move(owner, outcome, delta);
}

/** Returns the outcome to trade for a direction: who has too few shares to sell buys the other outcome instead. */
function chooseOutcome(
  book: OrderBook,
  order: { readonly owner: Address; readonly direction: Direction; readonly units: number },
  liked: Outcome,
): Outcome {
  const sold: Outcome = order.direction === "bid" ? 1 : 0;
  if (liked !== sold || book.available(order.owner, sold) >= order.units) return liked;
  return liked === 0 ? 1 : 0;
}

function quote(
  book: OrderBook,
  { direction, fairMilli }: { readonly direction: Direction; readonly fairMilli: number },
  random: Random,
): Order {
  const owner = random.pick(makers);
  const units = getUnits(makerShares, random);
  const liked: Outcome = random.chance(0.6) ? 0 : 1;
  const outcome = chooseOutcome(book, { owner, direction, units }, liked);
  const away = nearestMilli + random.exponential(depthMilli);
  // Ticks are finer near 0 and 1, where a tick of 0.01 would be most of the price.
  const tick = fairMilli < 40 || fairMilli > 960 ? 1 : 10;
  const priceMilli =
    direction === "bid"
      ? Math.max(Math.floor((fairMilli - away) / tick) * tick, 1)
      : Math.min(Math.ceil((fairMilli + away) / tick) * tick, 999);
  return {
    salt: getSalt(random),
    owner,
    outcome,
    side: getSide(direction, outcome),
    priceMilli: invertMilli(priceMilli, outcome),
    units,
  };
}

function wouldCross(book: OrderBook, direction: Direction, limitMilli: number): boolean {
  const best = book.bestFor(direction);
  if (best === null) return false;
  return direction === "bid" ? best <= limitMilli : best >= limitMilli;
}

function getUnits(shares: { median: number; spread: number }, random: Random): number {
  const drawn = random.logNormal(shares.median, shares.spread);
  return Math.round(Math.min(Math.max(drawn, 1), sharesMax) * 100);
}

function getSalt(random: Random): number {
  return random.below(2 ** 32);
}
