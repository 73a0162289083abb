/** How well a market answers a word: in which of its fields the word is, and how. */
import type { MatchWay } from "./terms.ts";
import type { FoundTerms, Weights } from "./text-search.ts";

/** The words of a market, by field: the question; slug, category and tags; the outcomes. */
export type SearchedWords = {
  readonly titles: readonly (readonly string[])[];
  readonly description: readonly string[];
};

/**
 * What a field is worth, times 3 for the whole word, 2 for the start of one and 1 within one: scores
 * of a word fit into a byte.
 */
const worths = [50, 16, 15] as const;
const descriptionWorth = 5;
const wayWorth = { whole: 3, start: 2, within: 1 } as const;
/**
 * What is found where is bounded by what it costs, and by what it is worth: half of all titles have
 * some given two letters within a word, and nearly all descriptions.
 */
const titleWithinBytesMin = 3;
const descriptionStartBytesMin = 3;

/** How many fields titles have. */
export const titleFields = worths.length;
/** What a word is worth in titles, by the fields it is in. */
export const titleWeights: Weights = weightsOf(worths);
/** The same in descriptions, which are one field. */
export const descriptionWeights: Weights = weightsOf([descriptionWorth]);

/** How a word is looked for. */
export function reachIn(word: string): { titles: MatchWay; descriptions: MatchWay } {
  const bytes = Buffer.byteLength(word);
  return {
    titles: bytes < titleWithinBytesMin ? "start" : "within",
    descriptions: bytes < descriptionStartBytesMin ? "whole" : "start",
  };
}

/** What `TextSearch` would say of one word and one market. */
export function scoreOf(word: string, { titles, description }: SearchedWords): number {
  const reach = reachIn(word);
  let best = worthIn(description, word, reach.descriptions) * descriptionWorth;
  for (const [field, terms] of titles.entries()) {
    best = Math.max(best, worthIn(terms, word, reach.titles) * (worths[field] ?? 0));
  }
  return best;
}

/** What a market with any of these terms can be worth at the most. */
export function mostWorth({
  titles,
  descriptions,
}: Readonly<Record<"titles" | "descriptions", FoundTerms>>): number {
  return Math.max(
    highestWeight(titles, titleWeights),
    highestWeight(descriptions, descriptionWeights),
  );
}

function highestWeight({ terms }: FoundTerms, weights: Weights): number {
  const ways = ["whole", "start", "within"] as const;
  return Math.max(0, ...ways.map((way) => (terms[way].length > 0 ? Math.max(...weights[way]) : 0)));
}

function worthIn(terms: readonly string[], word: string, way: MatchWay): number {
  let best = 0;
  for (const term of terms) {
    const found = term === word ? "whole" : term.startsWith(word) ? "start" : "within";
    const worth = wayWorth[found];
    if (worth > best && worth >= wayWorth[way] && term.includes(word)) best = worth;
  }
  return best;
}

/** The score for each combination of fields: that of the best field in it. */
function weightsOf(fields: readonly number[]): Weights {
  const times = (factor: number): Uint8Array =>
    Uint8Array.from({ length: 1 << fields.length }, (_, bits) =>
      Math.max(0, ...fields.map((worth, field) => (bits & (1 << field) ? worth * factor : 0))),
    );
  return { whole: times(wayWorth.whole), start: times(wayWorth.start), within: times(1) };
}
