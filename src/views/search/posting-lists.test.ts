/** A search in some groups of documents skips slices, and scores these groups as a search in all documents does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { testSeed } from "../../../test/support/property-settings.ts";
import { SeededRandom } from "../../../test/support/seeded-random.ts";
import { PostingLists, toGroup } from "./posting-lists.ts";

test("slices are skipped wherever a posting is split between them", () => {
  const random = new SeededRandom(testSeed);
  const lists = new PostingLists(new MemoryStateStore(), "test", 2);
  const fields = new Map<number, number>();
  let document = 0;
  // Postings of one and two bytes, in many of the longest slices.
  for (let count = 0; count < 40_000; count += 1) {
    document += random.pick([1, 20, 40, 1_000]);
    fields.set(document, random.integer(1, 3));
    lists.add(0, document, fields.get(document) ?? 0);
  }
  const weights = Uint8Array.of(0, 1, 2, 3);
  const owners = Int32Array.from({ length: document + 1 }, (_, index) => index + 1);
  for (let run = 0; run < 10; run += 1) {
    const scores = new Uint8Array(document + 1);
    const groups = new Uint8Array(toGroup(document) + 1);
    for (let marked = 0; marked < 3; marked += 1) groups[random.integer(0, groups.length - 1)] = 1;
    lists.score(Int32Array.of(0), { weights, owners, scores, groups });
    for (const [index, own] of fields) {
      const score = scores[index] ?? 0;
      assert(score === own || (score === 0 && groups[toGroup(index)] === 0), `document ${index}`);
    }
  }
});
