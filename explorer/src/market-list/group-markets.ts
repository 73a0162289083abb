import type { Market, Price, TokenId } from "../../../client/src/api.ts";
import { short } from "../format/numbers.ts";

/** A row of the list: one market, or an event with several. */
export type MarketGroup = {
  readonly id: string;
  readonly title: string;
  readonly markets: readonly Market[];
};

/** What the event of a market is known by; `null` for a market that is alone. */
export function eventIdOf({ neg_risk_market_id: negRisk, event_id: event }: Market): string | null {
  return negRisk ?? event;
}

/** Markets of one event in one group, where its first market is. */
export function groupMarkets(markets: readonly Market[]): readonly MarketGroup[] {
  const groups = Map.groupBy(markets, (market) => eventIdOf(market) ?? market.id);
  return [...groups].map(([id, members]) => {
    const [first] = members;
    const isAlone = members.length === 1;
    const title = isAlone && first !== undefined ? nameOf(first) : titleOf(members);
    return { id: isAlone ? (first?.id ?? id) : id, title, markets: members };
  });
}

/** The question of a market, or what it is recognized by while that is not known. */
export function nameOf({ question, id }: Market): string {
  return question ?? `Unnamed market ${short(id)}`;
}

/** The name of an event; where that is not known, its slug in words, or what its questions share. */
export function titleOf(markets: readonly Market[]): string {
  const known = markets[0]?.event?.title ?? null;
  if (known !== null) return known;
  const slug = markets[0]?.event_slug?.replace(/-\d{4,}$/, "").replaceAll("-", " ") ?? "";
  const questions = markets.map(({ question }) => question ?? "");
  const shared = slug.length >= 5 ? slug : questions.reduce(sharedEnd, questions[0] ?? "").trim();
  return shared === "" ? "Event" : shared.charAt(0).toUpperCase() + shared.slice(1);
}

/** What a market stands for within its event: its question without the words that all of them share. */
export function labelOf(market: Market, siblings: readonly Market[]): string {
  const question = nameOf(market);
  const others = siblings.map((one) => one.question ?? "").filter((text) => text !== question);
  if (others.length === 0) return question;
  const words = question.split(" ");
  const all = others.map((text) => text.split(" "));
  let start = 0;
  while (all.every((other) => other[start] === words[start]) && start < words.length) start += 1;
  let end = 0;
  const left = words.length - start;
  while (end < left && all.every((other) => other.at(-1 - end) === words.at(-1 - end))) end += 1;
  const label = words.slice(start, words.length - end).join(" ");
  return label === "" ? question : label.charAt(0).toUpperCase() + label.slice(1);
}

function sharedEnd(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length === 0 ? "" : a.slice(-length);
}

/** Prices that are followed, by token. */
export type Prices = ReadonlyMap<TokenId, Price>;

/** The price of the first outcome, from 0 to 1; 0 where there is none. */
export function chanceOf({ tokens: [token] }: Market, prices: Prices): number {
  return Number(prices.get(token?.token_id ?? "")?.price ?? token?.price ?? 0);
}

/** The market that is most likely first. */
export function byChance(markets: readonly Market[], prices: Prices): readonly Market[] {
  return markets.toSorted((a, b) => chanceOf(b, prices) - chanceOf(a, prices));
}
