/** The names of markets in lists of their event. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Market } from "../../clients/typescript/src/api.ts";
import { toLabel } from "../../explorer/src/format/group-markets.ts";

const toLabels = (...questions: readonly (string | null)[]) => {
  const markets = questions.map((question, at) => ({ id: `0x${at}`, question }) as Market);
  return markets.map((market) => toLabel(market, markets));
};

test("a market is named by the words in which its question differs from those of its event", () => {
  assert.deepEqual(toLabels("Will Ann win the cup?", "Will Bob win the cup?"), ["Ann", "Bob"]);
  assert.deepEqual(toLabels("Who wins? (answer 0)", "Who wins? (answer 1)", "Who wins? (Other)"), [
    "Answer 0",
    "Answer 1",
    "Other",
  ]);
  assert.deepEqual(toLabels("Will Ann win?", "Will Bob win?", "Who wins? (Other)"), [
    "Will Ann win?",
    "Will Bob win?",
    "Who wins? (Other)",
  ]);
});
