/**
 * Expected markets and resolutions of generation 3, whose conditions are not prepared and whose results may be derived
 * from a sibling. Fields that the rules leave open are omitted.
 */
import type { ExpectedRow, Row } from "./compare-rows.ts";
import { ratio } from "./exact.ts";
import type { TokenFacts } from "./expected-trades.ts";
import type { PlacedTrade } from "./place-logs.ts";
import type { ExpectedMarket3 } from "./recording.ts";
import { inOrder, lastPrice, tradingFields } from "./trading-of-market.ts";

export function tokensOf3(markets: readonly ExpectedMarket3[]): Map<string, TokenFacts> {
  const tokens = new Map<string, TokenFacts>();
  for (const market of markets) {
    const { yes_token_id: yes, no_token_id: no, condition_id_bytes31: conditionId } = market;
    const [first, second] = isTitled(market) ? ["Yes", "No"] : [];
    tokens.set(yes, { conditionId, outcomeIndex: 0, complement: no, outcome: first });
    tokens.set(no, { conditionId, outcomeIndex: 1, complement: yes, outcome: second });
  }
  return tokens;
}

export function expectMarket3(
  market: ExpectedMarket3,
  tradesOfMarket: readonly PlacedTrade[],
): ExpectedRow {
  const trades = inOrder(tradesOfMarket);
  const { condition_id_bytes31: id, yes_token_id: yes, no_token_id: no } = market;
  const payouts = getPayouts(market);
  const fields = {
    id,
    neg_risk: market.module === 2,
    exchange_versions: trades.length === 0 ? [] : [3],
    tokens: [yes, no].map((tokenId, index) => ({
      token_id: tokenId,
      outcome_index: index,
      complement_token_id: index === 0 ? no : yes,
      // A combination has no result of its own. The rules do not define whether its price follows its legs.
      ...(market.module === 3 ? {} : { price: payouts?.[index] ?? lastPrice(tokenId, trades) }),
    })),
    ...tradingFields(trades, { ...market, legs: market.trades }),
    ...(isTitled(market) ? { question: market.title, metadata_source: "chain" } : {}),
    ...resolutionFields(market),
  };
  return { name: market.title ?? `${market.kind} ${id}`, fields };
}

/** Whether a market must be listed: it was traded or announced. Other ids are only derived. */
export function mustBeListed3(market: ExpectedMarket3): boolean {
  return market.trades > 0 || market.announced_block !== null;
}

/** Reduces a row of `/v1/resolutions` to what the recording contains: who won what. */
export function getResult(row: Row): readonly [unknown, unknown] {
  return [row["condition_id"], { payouts: row["payouts"], winner: row["winning_token_id"] }];
}

export function expectResult(market: ExpectedMarket3): readonly [unknown, unknown] {
  return [market.condition_id_bytes31, { payouts: getPayouts(market), winner: getWinner(market) }];
}

function resolutionFields(market: ExpectedMarket3): object {
  if (market.module === 3) return {};
  const payouts = getPayouts(market);
  if (payouts === null) return { status: "open", resolution: null };
  return { status: "resolved", resolution: { payouts, winning_token_id: getWinner(market) } };
}

function getPayouts(market: ExpectedMarket3): (string | null)[] | null {
  return market.result?.map((part) => ratio(part, "1000000")) ?? null;
}

function getWinner(market: ExpectedMarket3): string | null {
  const winner = getPayouts(market)?.indexOf("1") ?? -1;
  return [market.yes_token_id, market.no_token_id][winner] ?? null;
}

/** Whether the recorded chain has the text of a market. A market that was never announced has none. */
function isTitled(market: ExpectedMarket3): boolean {
  return typeof market.title === "string" && market.announced_block !== null;
}
