import { type Seq, type TokenId, toFirstSeq } from "../../base/ids.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { invertPrice } from "../../market/invert.ts";
import { type PastPriceFacts, type PastPriceRow, toPastPriceRow } from "../../rows/price-row.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import { settlementPrice } from "../../views/prices/token-price.ts";
import { isPast, type Past, readLastTrades, type TokenTrade } from "./read-last-trades.ts";
import { type JoinedTokens, joinTokens } from "./read-markets.ts";

type Sources = { readonly facts: IndexedFacts; readonly state: MarketState };

/** A position or a time that a client names: a number can be either. */
export type Moment = { readonly number: number } | { readonly timeMs: number };

const secondsOfDay = 86_400;

/**
 * Returns what had happened by a moment. A number is a time if it is one of the covered time, or at most a day later;
 * else a position if it is a covered one; else a time. Throws `VALIDATION_ERROR` for a moment after the newest block.
 */
export function toPast({ facts, state }: Sources, moment: Moment): Past {
  const newest = state.dayWindow.now;
  const first = facts.first;
  const isTime = (ms: number): boolean =>
    first !== null && ms >= first.timestamp * 1000 && ms < (newest + secondsOfDay) * 1000;
  if ("timeMs" in moment) return pastOfTime(moment.timeMs, newest);
  const { number } = moment;
  const timeMs = [number, number * 1000].find(isTime);
  if (timeMs !== undefined) return pastOfTime(timeMs, newest);
  if (first !== null && number >= toFirstSeq(first.number)) {
    if (number <= facts.newestSeq) return { seqTo: (number + 1) as Seq };
    throw tooLate();
  }
  return pastOfTime(number >= 1e12 ? number : number * 1000, newest);
}

function pastOfTime(timeMs: number, newest: number): Past {
  const timestamp = Math.floor(timeMs / 1000);
  if (timestamp > newest) throw tooLate();
  return { timestampTo: timestamp + 1 };
}

function tooLate() {
  return invalid("at", "is after the newest indexed block, so the price is not known yet");
}

/**
 * Returns the price of each token by the trades and the result up to a moment alone, on its ledger or both; `null` for
 * an unknown token.
 */
export async function readPastPrices(
  sources: Sources,
  tokenIds: readonly TokenId[],
  { mirror, past }: { readonly mirror: boolean; readonly past: Past },
): Promise<readonly (PastPriceRow | null)[]> {
  const { directory } = sources.state;
  const outcomes = [...new Set(tokenIds)]
    .filter((tokenId) => directory.isKnownToken(tokenId))
    .map((tokenId) => ({
      tokenId,
      ...joinTokens(directory, tokenId, { complement: true, mirror }),
    }));
  const pairs = outcomes.map(({ same, inverted }) => [...same, ...inverted]);
  const trades = await readLastTrades(sources, pairs, past);
  const rows = new Map(
    outcomes.map((outcome, at) => {
      const row = getRow(sources.state, outcome, { past, lastTrade: trades[at] ?? null });
      return [outcome.tokenId, row];
    }),
  );
  return tokenIds.map((tokenId) => rows.get(tokenId) ?? null);
}

function getRow(
  { directory }: MarketState,
  { tokenId, same, inverted }: JoinedTokens & { readonly tokenId: TokenId },
  { past, lastTrade: last }: { readonly past: Past; readonly lastTrade: TokenTrade | null },
): PastPriceRow {
  const first = settlementPrice(same, directory);
  const settled = first !== null && isPast(first.resolution, past) ? first : null;
  const lastTrade = last && { trade: last.trade, isOwn: same.includes(last.tokenId) };
  const [other] = inverted;
  return toPastPriceRow({
    tokenId,
    price: settled ? { price: settled.price, source: "settlement" } : getTraded(lastTrade),
    lastTrade,
    complement:
      other === undefined
        ? null
        : {
            tokenId: other,
            outcome: directory.getToken(other).outcome,
            source: settled ? "settlement" : getSource(lastTrade && !lastTrade.isOwn),
          },
    setAt: settled?.resolution ?? last?.trade ?? null,
  });
}

function getTraded(lastTrade: PastPriceFacts["lastTrade"]): PastPriceFacts["price"] {
  if (lastTrade === null) return null;
  const { trade, isOwn } = lastTrade;
  const source = isOwn ? "last_trade" : "complement";
  return { price: isOwn ? trade.price : invertPrice(trade.price), source };
}

function getSource(isOwn: boolean | null): "last_trade" | "complement" | null {
  if (isOwn === null) return null;
  return isOwn ? "last_trade" : "complement";
}
