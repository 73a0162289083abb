import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { propertySettings, testSeed } from "../../../test/support/property-settings.ts";
import { SeededRandom } from "../../../test/support/seeded-random.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import { TextSearch } from "./text-search.ts";

type Fields = readonly (readonly string[])[];
type Put = { readonly item: number; readonly fields: Fields };
type Step =
  | { readonly kind: "record"; readonly puts: readonly Put[] }
  | { readonly kind: "revert"; readonly blocks: number }
  | { readonly kind: "save" };

const words = ["a", "ab", "abc", "bc", "cab", "łódź", "日本語", "2025", "202"];
const parts = [...words, "b", "20", "本", "ź", "zz"];
const anyPut: fc.Arbitrary<Put> = fc.record({
  item: fc.nat(30),
  fields: fc.tuple(
    fc.array(fc.constantFrom(...words), { maxLength: 4 }),
    fc.array(fc.constantFrom(...words), { maxLength: 2 }),
  ),
});
const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant("record" as const), puts: fc.array(anyPut) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("revert" as const), blocks: fc.nat(3) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("save" as const) }) },
  ),
  { maxLength: 20 },
);

/** Field 0 scores 10, field 1 scores 1: times 3 for a whole word, times 2 for the start of one. */
const weights = {
  whole: new Uint8Array([0, 30, 3, 30]),
  start: new Uint8Array([0, 20, 2, 20]),
  within: new Uint8Array([0, 10, 1, 10]),
};

function naiveScore(fields: Fields | undefined, word: string, ways = [1, 2, 3]): number {
  const scores = (fields ?? []).flatMap((terms, field) =>
    terms.map((term) => {
      const way = term === word ? 3 : term.startsWith(word) ? 2 : term.includes(word) ? 1 : 0;
      return ways.includes(way) ? way * (field === 0 ? 10 : 1) : 0;
    }),
  );
  return Math.max(0, ...scores);
}

function openIndex(): { journal: UndoLog; index: TextSearch } {
  const stateStore = new MemoryStateStore();
  return { journal: stateStore.journal, index: new TextSearch(stateStore, "test", 2) };
}

const allItems = Int32Array.from({ length: 31 }, (_, item) => item);

function getScores(index: TextSearch, word: string, items: number): Uint8Array {
  const scores = new Uint8Array(items);
  index.scoreTerms(index.findTerms(word, "within"), weights, { scores, among: null });
  return scores;
}

function scoresAmong(index: TextSearch, word: string, among: Int32Array): Uint8Array {
  const scores = new Uint8Array(Math.max(0, ...among.slice(-1)) + 1);
  index.scoreTerms(index.findTerms(word, "within"), weights, { scores, among });
  return Uint8Array.from(among, (item) => scores[item] ?? 0);
}

describe("a search of texts", () => {
  test("finds the words of the remaining texts, after any reorgs", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const { journal, index } = openIndex();
        let blocks: (readonly Put[])[] = [];
        for (const step of steps) {
          if (step.kind === "record") {
            blocks.push(step.puts);
            journal.record(blocks.length, () => {
              for (const { item, fields } of step.puts) index.put(item, fields);
            });
          } else if (step.kind === "revert") {
            blocks = blocks.slice(0, Math.max(0, blocks.length - step.blocks));
            journal.revertTo(blocks.length);
          } else {
            journal.withoutRecorded(() => {
              const scores = new Uint8Array(31);
              for (const word of words)
                index.scoreTerms(index.findTerms(word, "within"), weights, { scores, among: null });
              assert(
                scores.every((score) => score === 0),
                "nothing is left without the blocks",
              );
            });
          }
        }
        const texts = new Map(blocks.flat().map(({ item, fields }) => [item, fields]));
        for (const word of parts) {
          const scores = getScores(index, word, 31);
          const expected = scores.map((_, item) => naiveScore(texts.get(item), word));
          assert.deepEqual(scores, expected, word);
          assert.deepEqual(scoresAmong(index, word, allItems), scores, word);
          const exact = new Uint8Array(31);
          index.scoreTerms(index.findTerms(word, "whole"), weights, { scores: exact, among: null });
          assert.deepEqual(
            exact,
            scores.map((_, item) => naiveScore(texts.get(item), word, [3])),
            word,
          );
        }
      }),
      propertySettings(200),
    );
  });

  test("detects changed terms that look the same when joined", () => {
    const { index } = openIndex();
    index.put(1, [["tag:a tag:b"], []]);
    index.put(1, [["tag:a", "tag:b"], []]);
    const scores = new Uint8Array(2);
    index.scoreTerms(index.findTerms("tag:b", "whole"), weights, { scores, among: null });
    assert.deepEqual(scores, new Uint8Array([0, 30]));
  });

  test("finds each of 20,000 items whose postings span many slices", () => {
    const { index } = openIndex();
    const items = 20_000;
    for (let item = 0; item < items; item += 1) {
      index.put(item, [["all", `own${item}`], item % 300 === 0 ? ["some"] : []]);
    }
    for (const [word, toScore] of [
      ["all", () => 30],
      ["some", (item: number) => (item % 300 === 0 ? 3 : 0)],
      ["own7777", (item: number) => (item === 7777 ? 30 : 0)],
    ] as const) {
      const scores = getScores(index, word, items);
      assert.deepEqual(
        scores,
        new Uint8Array(items).map((_, item) => toScore(item)),
      );
    }
  });

  test("scores a subset of items the same, whatever slices their postings are in", () => {
    const { index } = openIndex();
    const random = new SeededRandom(testSeed);
    const items = 60_000;
    // Distances of one byte and of several, so that some postings are split between slices.
    for (let item = 0; item < items; item += 1) {
      const often = random.chance(0.7) ? ["often"] : [];
      const seldom = random.chance(0.02) || item % 9_000 > 8_000 ? ["seldom"] : [];
      index.put(item, [often, seldom]);
    }
    // A changed text gets a newer document, which is out of the order of items.
    for (let item = 0; item < items; item += 5_000) index.put(item, [["often", "new"], []]);
    const terms = new Map(
      ["oft", "sel", "ne"].flatMap((prefix) =>
        [...index.termsAfter(prefix)].map(([term, text]) => [text, term] as const),
      ),
    );
    for (const word of ["often", "seldom", "new"]) {
      const scores = getScores(index, word, items);
      const visited = new Uint8Array(items);
      index.forEachItem(
        terms.get(word) ?? -1,
        (item) => (visited[item] = (visited[item] ?? 0) + 1),
      );
      assert.deepEqual(
        visited,
        scores.map((score) => Math.sign(score)),
        "each item once",
      );
      for (const share of [0.000_1, 0.01, 0.9]) {
        const some = Int32Array.from({ length: items }, (_, item) => item);
        const among = some.filter(() => random.chance(share));
        const expected = Uint8Array.from(among, (item) => scores[item] ?? 0);
        assert.deepEqual(scoresAmong(index, word, among), expected, `${word} ${share}`);
      }
    }
  });
});
