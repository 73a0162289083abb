/** How much the skip indexes of a table exclude, from the plans of the engine. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import * as fc from "fast-check";
import type { Seq } from "../../src/base/ids.ts";
import { storedEvents } from "../../src/query/read-events.ts";
import { storedFills } from "../../src/query/read-fills.ts";
import { RowSnapshot, type StoredList } from "../../src/query/row-snapshot.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { fillStore, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const partsAppended = 4;
const blocksOfPart = 10;
const blocks = getFacts(
  buildChain(fc.sample(anyBlockPlan(4), { seed: testSeed, numRuns: partsAppended * blocksOfPart })),
);
const page = { order: "asc", after: null, finalizedOnly: false } as const;

/** A store whose parts are never merged, so that each append stays one part. */
async function openStore(t: TestContext): Promise<IndexedFacts> {
  const { store } = await StoreFolder.open(t);
  await store.engine.command("SYSTEM STOP MERGES");
  await fillStore(store, { final: blocks, unfinalized: [], sizes: [blocksOfPart] });
  return store;
}

/** How many granules an index keeps, and of how many. Fails if the index is not used. */
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
  await new RowSnapshot(store, { ...list, read }).first(100);
  const [, ofIndex = ""] = plan.split(`Name: ${index}\n`);
  const [, left, of] = /Granules: ([0-9]+)\/([0-9]+)/.exec(ofIndex) ?? [];
  assert(left !== undefined && of !== undefined, `${index} is not used:\n${plan}`);
  return { left: Number(left), of: Number(of) };
}

const someFill = getFills(blocks)[0];
assert(someFill !== undefined);
const { orderHash, txHash } = someFill;

for (const [what, index, filter] of [
  ["an order", "orders", { orderHash }],
  ["a transaction", "transactions", { txHash }],
] as const) {
  test(`a read of the fills of ${what} skips parts by an index`, async (t) => {
    const store = await openStore(t);
    const { left, of } = await granulesLeft(store, storedFills({ ...page, filter }), index);
    assert.equal(of, partsAppended);
    assert(left >= 1 && left < of, `${left} of ${of}`);
  });
}

test("a read of the trades of a token before a time skips parts by an index", async (t) => {
  const store = await openStore(t);
  const { tokenId, timestamp } = someFill;
  const filter = { tokenIds: [tokenId], timestampTo: timestamp + 1 };
  const { left, of } = await granulesLeft(store, storedFills({ ...page, filter }), "timestamps");
  assert(left >= 1 && left < of, `${left} of ${of}`);
});

test("a read of the events that ended an order skips parts by an index", async (t) => {
  const store = await openStore(t);
  const events = blocks.flatMap((block) => block.events);
  const kinds = [...new Set(events.map(({ event }) => event.kind))];
  // The order was not ended by an event, like most orders.
  const { left, of } = await granulesLeft(
    store,
    storedEvents({ ...page, kinds, subjects: [orderHash] }),
    "subjects",
  );
  assert(left < of, `${left} of ${of}`);
});
