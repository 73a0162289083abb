import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { storeLimits } from "../../src/base/config/limits.ts";
import { toFirstSeq } from "../../src/base/ids.ts";
import { appendFacts } from "../support/append-facts.ts";
import { buildChain } from "../support/generate-chain.ts";
import { encode, getFacts } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const plan = { secondsLater: 2, reports: false, transactions: [] };
const facts = getFacts(buildChain(Array.from({ length: 10 }, () => plan)));
const first = facts[0]?.number ?? 0;

suite("an unfinalized position that was served", () => {
  test("is still certain while no block was replaced", async (t) => {
    const { store } = await StoreFolder.open(t);
    await appendFacts(store, encode(facts.slice(0, 5)));
    await store.reorgs.reserve(first + 5);
    assert.equal(store.reorgs.certainPosition(toFirstSeq(first + 5)), toFirstSeq(first + 5));
    assert.equal(store.reorgs.certainPosition(-1), -1);
  });

  test("is certain only up to the block before a reorg, also after restarts", async (t) => {
    const folder = await StoreFolder.open(t);
    const { store } = folder;
    await appendFacts(store, encode(facts.slice(0, 5)));
    await store.reorgs.reserve(first + 7);
    store.reorgs.add({ from: first + 5, to: first + 6 });
    await appendFacts(store, encode(facts.slice(5)));
    const { reorgs } = await folder.reopen();
    for (const block of [first + 5, first + 6]) {
      assert.equal(reorgs.certainPosition(toFirstSeq(block)), toFirstSeq(first + 5) - 1);
    }
    for (const block of [first + 4, first + 7]) {
      assert.equal(reorgs.certainPosition(toFirstSeq(block)), toFirstSeq(block));
    }
  });

  test("is certain only up to the last final block that a killed process has stored", async (t) => {
    const folder = await StoreFolder.open(t);
    const { store } = folder;
    await appendFacts(store, encode(facts.slice(0, 5)));
    await store.reorgs.reserve(first + 7);
    const next = await folder.reopen();
    assert.equal(next.reorgs.certainPosition(toFirstSeq(first + 7)), toFirstSeq(first + 5) - 1);
    // That does not change when those blocks are final.
    await appendFacts(next, encode(facts.slice(5)));
    const last = await folder.reopen();
    assert.equal(last.reorgs.certainPosition(toFirstSeq(first + 7)), toFirstSeq(first + 5) - 1);
  });

  test("is reported certain only further back if more reorgs have happened than memory keeps", async (t) => {
    const { store } = await StoreFolder.open(t);
    const { reorgsRemembered } = storeLimits;
    const { engine, reorgs } = store;
    engine.insert = async () => {};
    for (let index = 0; index <= reorgsRemembered; index += 1) {
      reorgs.add({ from: 10 * index, to: 10 * index + 1 });
    }
    assert.equal(reorgs.certainPosition(toFirstSeq(11)), -1);
    assert.equal(reorgs.certainPosition(toFirstSeq(21)), toFirstSeq(20) - 1);
  });
});
