import type { Seq, TokenId } from "../base/ids.ts";
import { marketLimits } from "../base/limits.ts";
import { type Fill, isTrade } from "./fill.ts";

/** What is told of the trade that made a price. */
export type LastTrade = Pick<
  Fill,
  "seq" | "timestamp" | "tokenId" | "side" | "size" | "value" | "txHash"
>;

/**
 * The last priced trade of the tokens that were traded or asked for lately. What it does not hold is
 * in the store: it forgets the tokens that came first when there are too many, and what a fork takes
 * back.
 */
export class LastTrades {
  readonly #trades = new Map<TokenId, LastTrade>();

  /** The trade of a token at a position; `null` when it is not held. */
  at(tokenId: TokenId, seq: Seq): LastTrade | null {
    const trade = this.#trades.get(tokenId);
    return trade?.seq === seq ? trade : null;
  }

  /** Takes in trades in chain order. */
  add(trades: Iterable<LastTrade>): void {
    for (const trade of trades) {
      const known = this.#trades.get(trade.tokenId);
      if (known !== undefined && known.seq > trade.seq) continue;
      this.#trades.delete(trade.tokenId);
      this.#trades.set(trade.tokenId, trade);
    }
    for (const oldest of this.#trades.keys()) {
      if (this.#trades.size <= marketLimits.lastTradesMax) return;
      this.#trades.delete(oldest);
    }
  }

  /** Forgets all trades at or above `seq`. */
  removeFrom(seq: Seq): void {
    for (const [tokenId, trade] of this.#trades) if (trade.seq >= seq) this.#trades.delete(tokenId);
  }
}

/** The last priced trade of each token among some fills that are in chain order. */
export function lastTradesOf(fills: Iterable<Fill>): readonly LastTrade[] {
  const last = new Map<TokenId, LastTrade>();
  for (const fill of fills)
    if (isTrade(fill) && fill.size !== 0n) last.set(fill.tokenId, lastTradeOf(fill));
  return [...last.values()];
}

/** A fill as the trade that made a price. */
export function lastTradeOf({
  seq,
  timestamp,
  tokenId,
  side,
  size,
  value,
  txHash,
}: Fill): LastTrade {
  return { seq, timestamp, tokenId, side, size, value, txHash };
}
