/**
 * The book of one question, which never touches the chain. Both outcomes share it, as at the real
 * venue: buying the second outcome at 0.4 is selling the first at 0.6. So a taker may meet makers
 * of his own token (complementary) and makers on his own side with the other one (mint or merge).
 */
import type { Address } from "viem";

export type Side = "BUY" | "SELL";
export type Outcome = 0 | 1;

/** Prices are thousandths of a dollar and sizes hundredths of a share: all amounts stay whole. */
export type Order = {
  /** Distinguishes orders of equal terms. */
  readonly salt: number;
  readonly owner: Address;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly priceMilli: number;
  readonly units: number;
};

export type Fill = { readonly order: Order; readonly units: number };

/** A `bid` wants the first outcome, or to be rid of the second; an `ask` the reverse. */
export type Direction = "bid" | "ask";

type Resting = { readonly order: Order; left: number };

const makersMax = 5;

export function directionOf({ side, outcome }: Pick<Order, "side" | "outcome">): Direction {
  return (side === "BUY") === (outcome === 0) ? "bid" : "ask";
}

/** The side on which an outcome is traded to go in a direction. */
export function sideOf(direction: Direction, outcome: Outcome): Side {
  return (direction === "bid") === (outcome === 0) ? "BUY" : "SELL";
}

/** Turns a price of an outcome into one of the first outcome, and back. */
export function invertMilli(priceMilli: number, outcome: Outcome): number {
  return outcome === 0 ? priceMilli : 1000 - priceMilli;
}

export class OrderBook {
  /** Best first. */
  readonly #resting = { bid: new Array<Resting>(), ask: new Array<Resting>() };

  count(direction: Direction): number {
    return this.#resting[direction].length;
  }

  add(order: Order, units: number): void {
    const direction = directionOf(order);
    const side = this.#resting[direction];
    side.push({ order, left: units });
    side.sort((a, b) => rank(b.order, direction) - rank(a.order, direction));
  }

  /** Takes out every order that `isStale` names, given its price for the first outcome. */
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

  /** The price for the first outcome at which the best order stands that `direction` would meet. */
  bestFor(direction: Direction): number | null {
    const best = this.#opposite(direction)[0]?.order;
    return best === undefined ? null : invertMilli(best.priceMilli, best.outcome);
  }

  /** How many units stand at each price of the first outcome. */
  levels(direction: Direction): ReadonlyMap<number, number> {
    const levels = new Map<number, number>();
    for (const { order, left } of this.#resting[direction]) {
      const milli = invertMilli(order.priceMilli, order.outcome);
      levels.set(milli, (levels.get(milli) ?? 0) + left);
    }
    return levels;
  }

  /** Uses up the best orders that `direction` meets, at most five of them. */
  take(direction: Direction, units: number): Fill[] {
    const makers = this.#opposite(direction);
    const fills: Fill[] = [];
    let wanted = units;
    for (const maker of makers.slice(0, makersMax)) {
      const filled = Math.min(wanted, maker.left);
      if (filled === 0) break;
      fills.push({ order: maker.order, units: filled });
      maker.left -= filled;
      wanted -= filled;
    }
    const opposite = direction === "bid" ? "ask" : "bid";
    this.#resting[opposite] = makers.filter((maker) => maker.left > 0);
    return fills;
  }

  #opposite(direction: Direction): readonly Resting[] {
    return this.#resting[direction === "bid" ? "ask" : "bid"];
  }
}

/** Higher is better: bids want to be high, asks low. */
function rank(order: Order, direction: Direction): number {
  const priceMilli = invertMilli(order.priceMilli, order.outcome);
  return direction === "bid" ? priceMilli : -priceMilli;
}
