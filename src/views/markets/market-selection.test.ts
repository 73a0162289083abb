import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { anyMarket } from "../../../test/support/any-market.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { searchNow } from "../../../test/support/search-now.ts";
import type { ConditionId } from "../../base/ids.ts";
import type { Market } from "../../market/market.ts";
import { MarketColumns, marketFlags } from "./market-columns.ts";
import { type MarketSelection, selectMembers } from "./market-selection.ts";

const { listed, resolved, negRisk } = marketFlags;
/** Enough markets for a common word to be searched in all of them. */
const markets = 1403;
const columns = new MarketColumns(new MemoryStateStore());
const texts = Array.from({ length: markets }, (_, ordinal) =>
  ["all", ...(ordinal % 3 === 0 ? ["third"] : []), ...(ordinal % 7 === 2 ? [] : ["most"])].join(
    " ",
  ),
);
for (const [ordinal, question] of texts.entries()) {
  columns.add(`0x${ordinal.toString(16).padStart(64, "0")}` as ConditionId);
  const eventId = ordinal % 5 === 0 ? "fifth" : null;
  const none = { description: null, tokens: [], negRiskMarketId: null, venue: null };
  columns.setTexts(ordinal, { ...none, question, eventId } as unknown as Market);
  columns.set(columns.flags, ordinal, ordinal % 8);
  columns.set(columns.volumeUsd, ordinal, ordinal);
}

/** The ordinals of the members that have all words, with their ranks. */
function rankMembers({
  words,
  ...selection
}: Partial<MarketSelection> & { words: readonly string[] | null }): [number, number][] {
  const hits = words === null ? null : searchNow(columns.search, words, columns.count);
  const { ordinals, ranks, length } = selectMembers(columns, { ...anyMarket, hits, ...selection });
  const found = Array.from(ranks, (rank, at): [number, number] => [ordinals?.[at] ?? at, rank]);
  const members = found.filter(([, rank]) => rank > 0);
  assert.equal(length, members.length);
  return members;
}

test("members match all requested words, flags, labels and minimums, and are ranked by words", () => {
  const anyRequested = fc.record({
    words: fc.option(fc.subarray(["all", "most", "third"], { minLength: 1 })),
    mask: fc.constantFrom(0, resolved, negRisk, resolved | negRisk),
    bits: fc.nat(7),
    isLabeled: fc.boolean(),
    minVolume: fc.nat(markets),
  });
  fc.assert(
    fc.property(anyRequested, ({ words, mask, bits, isLabeled, minVolume }) => {
      const flags = { mask, expected: bits & mask };
      const labels = isLabeled ? { event: ["fifth", "unheard of"] } : {};
      const expected = texts.flatMap((text, ordinal): [number, number][] => {
        const isIn =
          (ordinal & listed) !== 0 &&
          (ordinal & mask) === flags.expected &&
          (!isLabeled || ordinal % 5 === 0) &&
          ordinal >= minVolume &&
          (words ?? []).every((word) => text.split(" ").includes(word));
        return isIn ? [[ordinal, words === null ? 1 : words.length * 150]] : [];
      });
      assert.deepEqual(rankMembers({ words, flags, labels, minVolume }), expected);
    }),
    propertySettings(60),
  );
});

test("markets that are requested by ordinal are members if they have the words, listed or not", () => {
  assert.deepEqual(rankMembers({ ordinals: [6, 3, 3, 2], words: ["third"] }), [
    [6, 150],
    [3, 150],
  ]);
  assert.deepEqual(rankMembers({ ordinals: [4, 9], words: ["all", "most"] }), [[4, 300]]);
});
