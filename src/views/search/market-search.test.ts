import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { searchNow } from "../../../test/support/search-now.ts";
import { marketLimits } from "../../base/config/limits.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import { type Hits, MarketSearch, type SearchedMarket } from "./market-search.ts";
import { toWords } from "./search-words.ts";

type MarketTexts = Pick<SearchedMarket, "question" | "description"> &
  NonNullable<SearchedMarket["venue"]> & { readonly outcomes: readonly (string | null)[] };

const markets = 600;
const none: MarketTexts = {
  question: null,
  description: null,
  outcomes: [],
  slug: null,
  category: null,
  tags: [],
};
const words = ["will", "wild", "win", "cup", "łódź", "2025", "a"];
const anyText = fc.array(fc.constantFrom(...words), { maxLength: 4 }).map((all) => all.join(" "));
const anyTexts: fc.Arbitrary<MarketTexts> = fc.record({
  question: fc.option(anyText),
  description: fc.option(anyText),
  outcomes: fc.array(fc.option(anyText), { maxLength: 2 }),
  slug: fc.option(anyText.map((text) => text.replaceAll(" ", "-"))),
  category: fc.option(anyText),
  tags: fc.array(anyText, { maxLength: 2 }),
});
const anyPuts = fc.array(fc.record({ ordinal: fc.nat(markets - 1), texts: anyTexts }), {
  maxLength: 4,
});
const anyStep = fc.oneof(
  fc.record({ kind: fc.constant("held" as const), puts: anyPuts }),
  fc.record({ kind: fc.constant("add" as const), puts: anyPuts }),
  fc.record({ kind: fc.constant("reverted" as const), blocks: fc.nat(2) }),
  fc.record({ kind: fc.constant("saved" as const) }),
);
type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;
const anyQuery = fc.array(
  fc.constantFrom(
    ...words,
    "wi",
    "w",
    "all",
    "al",
    "l",
    "many",
    "man",
    "any",
    "ll",
    "own7",
    "own77",
    "nowhere",
  ),
  { minLength: 1, maxLength: 3 },
);

function getMarket({ question, description, outcomes, ...venue }: MarketTexts): SearchedMarket {
  return { question, description, tokens: outcomes.map((outcome) => ({ outcome })), venue };
}

/** The score of a word in the texts of a market, as documented. */
function getWorth(texts: MarketTexts, word: string): number {
  const bytes = Buffer.byteLength(word);
  const worthIn = (text: string | null, worth: number, isTitle: boolean) =>
    toWords(text ?? "").map((term) => {
      if (term === word) return worth * 3;
      if (term.startsWith(word) && (isTitle || bytes > 2)) return worth * 2;
      return term.includes(word) && isTitle && bytes > 2 ? worth : 0;
    });
  return Math.max(
    0,
    ...worthIn(texts.question, 50, true),
    ...[texts.slug, texts.category, ...texts.tags].flatMap((text) => worthIn(text, 16, true)),
    ...texts.outcomes.flatMap((text) => worthIn(text, 15, true)),
    ...worthIn(texts.description, 5, false),
  );
}

function naiveFind(all: readonly MarketTexts[], query: readonly string[]): [number, number][] {
  const requested = [...new Set(query)];
  return all.flatMap((texts, ordinal): [number, number][] => {
    const found = requested.map((word) => getWorth(texts, word));
    return found.includes(0) ? [] : [[ordinal, found.reduce((sum, one) => sum + one, 0)]];
  });
}

function foundBy(
  search: MarketSearch,
  query: readonly string[],
  count = markets,
): [number, number][] {
  return toRanks(searchNow(search, query, count));
}

function toRanks({ ranks, ordinals }: Hits): [number, number][] {
  if (ordinals !== null) return Array.from(ordinals, (one) => [one, ranks[one] ?? 0]);
  return Array.from(ranks, (rank, ordinal): [number, number] => [ordinal, rank]).filter(
    ([, rank]) => rank > 0,
  );
}

/** The texts of all markets while blocks are applied and reverted. */
class TextHistory {
  readonly #journal: UndoLog;
  readonly #search: MarketSearch;
  readonly #before: (readonly MarketTexts[])[] = [];
  texts: readonly MarketTexts[];

  constructor(journal: UndoLog, search: MarketSearch, texts: readonly MarketTexts[]) {
    this.#journal = journal;
    this.#search = search;
    this.texts = texts;
  }

  apply(step: Step): void {
    if (step.kind === "saved") {
      this.#journal.withoutRecorded(() => {});
    } else if (step.kind === "reverted") {
      const kept = Math.max(0, this.#before.length - step.blocks);
      this.texts = this.#before[kept] ?? this.texts;
      this.#before.length = kept;
      this.#journal.revertTo(kept);
    } else {
      const before = this.texts;
      const put = () => {
        for (const { ordinal, texts } of step.puts) {
          this.#search.put(ordinal, getMarket(texts));
          this.texts = this.texts.with(ordinal, texts);
        }
      };
      if (step.kind === "add") this.#journal.amend(put);
      else this.#journal.record(this.#before.push(before), put);
    }
  }
}

/** Markets that all share some words, so that these words are common. */
function openSearch(): { journal: UndoLog; search: MarketSearch; all: MarketTexts[] } {
  const stateStore = new MemoryStateStore();
  const { journal } = stateStore;
  const search = new MarketSearch(stateStore);
  const all = Array.from({ length: markets }, (_, ordinal) => ({
    ...none,
    question: `All own${ordinal}`,
    description: ordinal % 2 === 0 ? "many" : "manifold all",
  }));
  for (const [ordinal, texts] of all.entries()) search.put(ordinal, getMarket(texts));
  return { journal, search, all };
}

describe("a search of markets", () => {
  test("finds the same as a naive search of the remaining texts, after any reorgs", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyStep, fc.array(anyQuery, { maxLength: 3 })), { maxLength: 12 }),
        (steps) => {
          const { journal, search, all } = openSearch();
          const history = new TextHistory(journal, search, all);
          for (const [step, queries] of steps) {
            history.apply(step);
            for (const query of queries) {
              assert.deepEqual(
                foundBy(search, query),
                naiveFind(history.texts, query),
                query.join(" "),
              );
            }
          }
        },
      ),
      propertySettings(60),
    );
  });

  test("in steps finds what is there at its end, whatever changes or searches come in between", () => {
    const anyTurn = fc.tuple(anyStep, fc.nat(9), fc.array(anyQuery, { maxLength: 2 }));
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 12 }), (turns) => {
        const { journal, search, all } = openSearch();
        const history = new TextHistory(journal, search, all);
        const requested: { query: readonly string[]; steps: Iterator<void, Hits> }[] = [];
        const goOn = ({ query, steps }: (typeof requested)[number]): boolean => {
          const step = steps.next();
          if (step.done !== true) return false;
          assert.deepEqual(toRanks(step.value), naiveFind(history.texts, query));
          return true;
        };
        for (const [step, count, queries] of turns) {
          for (const query of queries) {
            requested.push({ query, steps: search.find(query, () => markets) });
          }
          for (let i = 0; i < count; i += 1) {
            const at = i % Math.max(1, requested.length);
            const one = requested[at];
            if (one !== undefined && goOn(one)) requested.splice(at, 1);
          }
          history.apply(step);
        }
        for (const one of requested) while (!goOn(one));
      }),
      propertySettings(25),
    );
  });

  test("finds the few markets that have all words, common and rare", () => {
    const search = new MarketSearch(new MemoryStateStore());
    const all = Array.from({ length: 9000 }, (_, ordinal) => ({
      ...none,
      question: `own${ordinal}${ordinal % 12 === 0 ? " twelfth" : ""}${ordinal % 300 === 0 ? " rare" : ""}`,
      description: `${ordinal % 2 === 0 ? "half " : ""}${ordinal % 3 === 0 ? "third" : ""}`,
    }));
    for (const [ordinal, texts] of all.entries()) search.put(ordinal, getMarket(texts));
    const queries = [
      "twelfth half",
      "third twelfth half",
      "half third",
      "rare half",
      "rare hal thi",
      "rare own1 hal",
      "rare third own1 wn",
      "own8994 half third",
    ].map((query) => query.split(" "));
    for (const words of queries) {
      assert.deepEqual(foundBy(search, words, all.length), naiveFind(all, words), words.join(" "));
    }
  });

  test("ignores words beyond `searchWordsMax`", () => {
    const { search } = openSearch();
    const words = Array.from({ length: marketLimits.searchWordsMax }, (_, i) => `own${i}`);
    const texts = { ...none, question: words.join(" ") };
    search.put(3, getMarket(texts));
    assert.deepEqual(
      foundBy(search, [...words, "nowhere"]).map(([ordinal]) => ordinal),
      [3],
    );
  });
});

test("a word that no market has is corrected to the most frequent word that differs by one typo", () => {
  const search = new MarketSearch(new MemoryStateStore());
  const questions = ["Will she win the presidency?", "Presidency of the council", "The president"];
  for (const [ordinal, question] of questions.entries())
    search.put(ordinal, getMarket({ ...none, question }));
  const corrected = (text: string) => search.corrected(toWords(text)).join(" ");
  for (const typo of ["presidncy", "presidenccy", "presidancy", "presidecny"])
    assert.equal(corrected(typo), "presidency");
  assert.equal(corrected("presi win"), "presi win", "the start of a word is found as it is");
  assert.equal(corrected("wni xyzzy"), "wni xyzzy", "short words and unknown ones stay");
});
