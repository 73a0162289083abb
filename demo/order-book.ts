/**
 * The book of one question, kept off the chain. Both outcomes share it, as at the real venue: buying the second outcome
 * at 0.4 is selling the first at 0.6. So a taker can match makers of the same token (complementary), and makers on the
 * same side of the other token (mint or merge).
 */
import type { Address } from "viem";

export type Side = "BUY" | "SELL";
export type Outcome = 0 | 1;

/** Prices are in thousandths of a dollar and sizes in hundredths of a share, so that all amounts are integers. */
export type Order = {
  /** Distinguishes orders with equal terms. */
  readonly salt: number;
  readonly owner: Address;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly priceMilli: number;
  readonly units: number;
};

export type Fill = { readonly order: Order; readonly units: number };

/** A `bid` buys the first outcome or sells the second; an `ask` does the reverse. */
export type Direction = "bid" | "ask";

/** The units of both outcomes that each owner has. */
export type Holdings = readonly (readonly [owner: Address, units: readonly [number, number]])[];

type Resting = { readonly order: Order; left: number };

const makersMax = 5;

export function getDirection({ side, outcome }: Pick<Order, "side" | "outcome">): Direction {
  return (side === "BUY") === (outcome === 0) ? "bid" : "ask";
}

/** Returns the side that an order for an outcome must have for a direction. */
export function getSide(direction: Direction, outcome: Outcome): Side {
  return (direction === "bid") === (outcome === 0) ? "BUY" : "SELL";
}

/** Converts a price of an outcome to a price of the first outcome, and back. */
export function invertMilli(priceMilli: number, outcome: Outcome): number {
  return outcome === 0 ? priceMilli : 1000 - priceMilli;
}

export class OrderBook {
  /** Best first. */
  readonly #resting = { bid: new Array<Resting>(), ask: new Array<Resting>() };
  readonly #holdings: Map<Address, [number, number]>;

  constructor(holdings: Holdings = []) {
    this.#holdings = new Map(holdings.map(([owner, units]) => [owner, [...units]]));
  }

  get holdings(): Holdings {
    return [...this.#holdings];
  }

  /** Changes what an owner has by units of an outcome; negative units leave. */
  move(owner: Address, outcome: Outcome, units: number): void {
    const held = this.#holdings.get(owner) ?? [0, 0];
    held[outcome] += units;
    this.#holdings.set(owner, held);
  }

  /** Returns the units that an owner has of an outcome and does not offer yet. */
  available(owner: Address, outcome: Outcome): number {
    const offered = [...this.#resting.bid, ...this.#resting.ask]
      .filter(({ order }) => sells(order, owner, outcome))
      .reduce((sum, { left }) => sum + left, 0);
    return (this.#holdings.get(owner)?.[outcome] ?? 0) - offered;
  }

  count(direction: Direction): number {
    return this.#resting[direction].length;
  }

  add(order: Order, units: number): void {
    const direction = getDirection(order);
    const side = this.#resting[direction];
    side.push({ order, left: units });
    side.sort((a, b) => rank(b.order, direction) - rank(a.order, direction));
  }

  /** Removes and returns every order that `isStale` accepts, given its price for the first outcome. */
  withdraw(isStale: (order: Order, priceMilli: number) => boolean): Order[] {
    const gone: Order[] = [];
    for (const direction of ["bid", "ask"] as const) {
      this.#resting[direction] = this.#resting[direction].filter(({ order }) => {
        const stays = !isStale(order, invertMilli(order.priceMilli, order.outcome));
        if (!stays) gone.push(order);
        return stays;
      });
    }
    return gone;
  }

  /**
   * Returns the price, for the first outcome, of the best order that `direction` would match; `null` if there is none.
   */
  bestFor(direction: Direction): number | null {
    const best = this.#opposite(direction)[0]?.order;
    return best === undefined ? null : invertMilli(best.priceMilli, best.outcome);
  }

  /** Returns the number of units at each price of the first outcome. */
  levels(direction: Direction): ReadonlyMap<number, number> {
    const levels = new Map<number, number>();
    for (const { order, left } of this.#resting[direction]) {
      const milli = invertMilli(order.priceMilli, order.outcome);
      levels.set(milli, (levels.get(milli) ?? 0) + left);
    }
    return levels;
  }

  /** Fills the best orders that `direction` matches, at most five of them. */
  take(direction: Direction, units: number): Fill[] {
    const makers = this.#opposite(direction);
    const fills: Fill[] = [];
    let requested = units;
    for (const maker of makers.slice(0, makersMax)) {
      const filled = Math.min(requested, maker.left);
      if (filled === 0) break;
      fills.push({ order: maker.order, units: filled });
      maker.left -= filled;
      requested -= filled;
    }
    const opposite = direction === "bid" ? "ask" : "bid";
    this.#resting[opposite] = makers.filter((maker) => maker.left > 0);
    return fills;
  }

  #opposite(direction: Direction): readonly Resting[] {
    return this.#resting[direction === "bid" ? "ask" : "bid"];
  }
}

function sells(order: Order, owner: Address, outcome: Outcome): boolean {
  return order.owner === owner && order.outcome === outcome && order.side === "SELL";
}

/** Returns the rank of an order, higher for a better price: a high bid or a low ask. */
function rank(order: Order, direction: Direction): number {
  const priceMilli = invertMilli(order.priceMilli, order.outcome);
  return direction === "bid" ? priceMilli : -priceMilli;
}
