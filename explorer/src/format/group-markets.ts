import type { Market, Price, TokenId } from "../../../clients/typescript/src/api.ts";
import { priceInRow } from "../service/ledgers.ts";
import { short } from "./numbers.ts";

/** A row of the list: one market, or an event with several. */
export type MarketGroup = {
  readonly id: string;
  readonly title: string;
  readonly markets: readonly Market[];
};

/** Returns the id of a market's event; `null` if it belongs to none. */
export function getEventId({
  neg_risk_market_id: negRisk,
  event_id: event,
}: Market): string | null {
  return negRisk ?? event;
}

/** Groups markets by event. A group takes the place of its first market. */
export function groupMarkets(markets: readonly Market[]): readonly MarketGroup[] {
  const groups = Map.groupBy(markets, (market) => getEventId(market) ?? market.id);
  return [...groups].map(([id, members]) => {
    const [first] = members;
    const isAlone = members.length === 1;
    const title = isAlone && first !== undefined ? getName(first) : toTitle(members);
    return { id: isAlone ? (first?.id ?? id) : id, title, markets: members };
  });
}

/** Returns the question of a market; while it is unknown, a name with its id. */
export function getName({ question, id }: Market): string {
  return question ?? `Unnamed market ${short(id)}`;
}

/** Returns the title of an event; if unknown, its slug as words, or the words that end all of its questions. */
export function toTitle(markets: readonly Market[]): string {
  const known = markets[0]?.event?.title ?? null;
  if (known !== null) return known;
  const slug = markets[0]?.event_slug?.replace(/-\d{4,}$/, "").replaceAll("-", " ") ?? "";
  const questions = markets.map(({ question }) => question ?? "");
  const shared = slug.length >= 5 ? slug : questions.reduce(sharedEnd, questions[0] ?? "").trim();
  return shared === "" ? "Event" : shared.charAt(0).toUpperCase() + shared.slice(1);
}

/**
 * Returns the label of a market within its event: its question without the words that all questions share at both ends.
 */
export function toLabel(market: Market, siblings: readonly Market[]): string {
  const question = getName(market);
  const others = siblings.map((one) => one.question ?? "").filter((text) => text !== question);
  if (others.length === 0) return question;
  const words = question.split(" ");
  const all = others.map((text) => text.split(" "));
  let start = 0;
  while (all.every((other) => other[start] === words[start]) && start < words.length) start += 1;
  let end = 0;
  const left = words.length - start;
  while (end < left && all.every((other) => other.at(-1 - end) === words.at(-1 - end))) end += 1;
  // What the service adds to the title of an event is in brackets.
  const label = words
    .slice(start, words.length - end)
    .join(" ")
    .replace(/^\((.+)\)$/, "$1");
  return label === "" ? question : label.charAt(0).toUpperCase() + label.slice(1);
}

function sharedEnd(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length === 0 ? "" : a.slice(-length);
}

/** Live prices, by token. */
export type Prices = ReadonlyMap<TokenId, Price>;

/** Returns the price of the first outcome, from 0 to 1; 0 if there is none. */
export function getChance(market: Market, prices: Prices): number {
  const [token] = market.tokens;
  return Number(prices.get(token?.token_id ?? "")?.price ?? priceInRow(market, 0) ?? 0);
}

/** Sorts markets by the price of their first outcome, highest first. */
export function byChance(markets: readonly Market[], prices: Prices): readonly Market[] {
  return markets.toSorted((a, b) => getChance(b, prices) - getChance(a, prices));
}
