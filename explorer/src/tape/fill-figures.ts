import type { Fill, Match } from "../../../clients/typescript/src/api.ts";
import { cents, exact, exactDollars } from "../format/numbers.ts";

const unitsPerDollar = 1e6;

/** Dollars, shares and price of fills of one order, as text. */
type Figures = {
  readonly usd: string;
  readonly shares: string;
  readonly price: string;
  /** Whether a part of what was given may have come back, so that an amount is only a limit. */
  readonly isLimit: boolean;
};

/**
 * Sums fills of one order. The event of a taker has what the order gave before the exchange refunded the excess. What
 * it really gave is in its match; without the match it is a limit.
 */
export function getFigures(fills: readonly Fill[], matches: readonly Match[]): Figures {
  const amounts = fills.map((fill) => getAmounts(fill, matches));
  const usd = amounts.reduce((sum, one) => sum + one.usd, 0);
  const shares = amounts.reduce((sum, one) => sum + one.shares, 0);
  const price = cents(shares === 0 ? null : usd / shares);
  const isLimit = amounts.some((one) => one.isLimit);
  const isBuy = fills[0]?.side === "BUY";
  const most = isLimit ? "up to " : "";
  return {
    usd: `${isBuy ? most : ""}${exactDollars(usd)}`,
    shares: `${isBuy ? "" : most}${exact(shares)}`,
    price: isLimit ? `${isBuy ? "up to" : "at least"} ${price}` : price,
    isLimit,
  };
}

/** Returns the dollars and shares of a fill. A buyer gives dollars, a seller gives shares. */
function getAmounts({ role, side, seq, ...fill }: Fill, matches: readonly Match[]) {
  const match = matches.find(({ taker_fill_seq: takerSeq }) => takerSeq === seq);
  if (match !== undefined) {
    return { usd: Number(match.value_usd), shares: Number(match.size), isLimit: false };
  }
  const given = Number(fill.maker_amount_raw) / unitsPerDollar;
  const got = Number(fill.taker_amount_raw) / unitsPerDollar;
  const isLimit = role === "taker";
  return side === "BUY"
    ? { usd: given, shares: got, isLimit }
    : { usd: got, shares: given, isLimit };
}
