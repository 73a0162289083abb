/** The lines that the engine derives from stored rows equal the lines derived from the facts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import {
  readFactLines,
  readFactSummary,
  summarizeLines,
  toLines,
} from "../../src/storage/recovery/fact-fingerprint.ts";
import { appendFacts } from "../support/append-facts.ts";
import { anyChain } from "../support/generate-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { encode, getFacts, withLedger } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const [chain = []] = fc.sample(anyChain({ blocksMin: 60, blocksMax: 80 }), {
  seed: testSeed,
  numRuns: 1,
});
const blocks = withLedger(getFacts(chain));

test("stored rows have the same lines and summary as their facts, for any range", async (t) => {
  t.diagnostic(`seed ${testSeed}`);
  const { store } = await StoreFolder.open(t);
  await appendFacts(store, encode(blocks));
  const first = blocks[0]?.number ?? 0;
  for (const [from, to] of [
    [0, 1_000_000],
    [first + 7, first + 31],
    [first + 12, first + 12],
    [5, 6],
  ] as const) {
    const within = blocks.filter(({ number }) => number >= from && number <= to);
    const lines = toLines(within);
    assert.deepEqual(await readFactLines(store.engine, { from, to }), lines);
    const summary = await readFactSummary(store.engine, { from, to });
    assert.deepEqual(summary, summarizeLines(lines));
    assert.equal(
      Object.values(summary).reduce((sum, { count }) => sum + count, 0),
      lines.length,
    );
  }
  const kinds = Object.keys(summarizeLines(toLines(blocks))).map((name) => name.split(" ")[1]);
  assert.ok(kinds.includes("order_filled") && kinds.includes("quarantined"), kinds.join());
});

test("a summary differs if a fact is added, missing or changed", () => {
  const lines = toLines(blocks);
  const summary = summarizeLines(lines);
  const last = lines.at(-1);
  assert.ok(last !== undefined);
  const less = lines.slice(0, -1);
  assert.ok(isDeepStrictEqual(summary, summarizeLines(lines.toReversed())));
  for (const other of [less, [...lines, last], [...less, { ...last, text: `${last.text} ` }]]) {
    assert.ok(!isDeepStrictEqual(summary, summarizeLines(other)));
    assert.ok(!isDeepStrictEqual(summarizeLines(other), summary));
  }
});
