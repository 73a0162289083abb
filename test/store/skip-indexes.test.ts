/** What the indexes next to the order of a table leave out, by the engine's own plans. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import * as fc from "fast-check";
import type { Seq } from "../../src/base/ids.ts";
import { finalBoundary, readFinalRows, type StoredList } from "../../src/query/merged-list.ts";
import { storedEvents } from "../../src/query/read-events.ts";
import { storedFills } from "../../src/query/read-fills.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { factsOf, fillStore, fillsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const partsAppended = 4;
const blocksOfPart = 10;
const blocks = factsOf(
  buildChain(fc.sample(anyBlockPlan(4), { seed: testSeed, numRuns: partsAppended * blocksOfPart })),
);
const page = { order: "asc", after: null, finalizedOnly: false } as const;

/** A store whose parts stay as they were appended. */
async function openStore(t: TestContext): Promise<IndexedFacts> {
  const { store } = await StoreFolder.open(t);
  await store.engine.command("SYSTEM STOP MERGES");
  await fillStore(store, { final: blocks, unfinalized: [], sizes: [blocksOfPart] });
  return store;
}

/** How many of the granules that come to an index are left by it; fails when it is not used. */
async function granulesLeft<Item extends { readonly seq: Seq }>(
  store: IndexedFacts,
  list: StoredList<Item>,
  index: string,
): Promise<{ readonly left: number; readonly of: number }> {
  let plan = "";
  const read: StoredList<Item>["read"] = async (engine, clauses) => {
    const sql = `SELECT seq FROM ${list.table} ${clauses}`;
    plan = (await engine.query(`EXPLAIN indexes = 1 ${sql}`)).join("\n");
    return [];
  };
  await readFinalRows(store, { ...list, read }, { boundary: finalBoundary(store), limit: 100 });
  const [, ofIndex = ""] = plan.split(`Name: ${index}\n`);
  const [, left, of] = /Granules: ([0-9]+)\/([0-9]+)/.exec(ofIndex) ?? [];
  assert(left !== undefined && of !== undefined, `${index} is not used:\n${plan}`);
  return { left: Number(left), of: Number(of) };
}

const someFill = fillsOf(blocks)[0];
assert(someFill !== undefined);
const { orderHash, txHash } = someFill;

for (const [what, index, filter] of [
  ["an order", "orders", { orderHash }],
  ["a transaction", "transactions", { txHash }],
] as const) {
  test(`the fills of ${what} are looked for in few parts`, async (t) => {
    const store = await openStore(t);
    const { left, of } = await granulesLeft(store, storedFills({ ...page, filter }), index);
    assert.equal(of, partsAppended);
    assert(left >= 1 && left < of, `${left} of ${of}`);
  });
}

test("trades of a token before a time are looked for in few parts", async (t) => {
  const store = await openStore(t);
  const { tokenId, timestamp } = someFill;
  const filter = { tokenIds: [tokenId], timestampTo: timestamp + 1 };
  const { left, of } = await granulesLeft(store, storedFills({ ...page, filter }), "timestamps");
  assert(left >= 1 && left < of, `${left} of ${of}`);
});

test("what ended an order is looked for in few parts", async (t) => {
  const store = await openStore(t);
  const events = blocks.flatMap((block) => block.events);
  const kinds = [...new Set(events.map(({ event }) => event.kind))];
  // Of an order that nothing ended, as most are.
  const { left, of } = await granulesLeft(
    store,
    storedEvents({ ...page, kinds, subject: orderHash }),
    "subjects",
  );
  assert(left < of, `${left} of ${of}`);
});
