/** Pages from the store and the head buffer, while blocks move from the head buffer to the store. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { LocatedEvent } from "../../src/market/block-facts.ts";
import type { Fill } from "../../src/market/fill.ts";
import { readEvents } from "../../src/query/read-events.ts";
import { readFills } from "../../src/query/read-fills.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { finalizeFacts } from "../support/append-facts.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { fillStore, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const finalCount = 15;
const plans = fc.sample(anyBlockPlan(2), { seed: testSeed, numRuns: 32 });
const blocks = getFacts(buildChain(plans));
const fills = getFills(blocks);
const events = blocks.flatMap((block) => block.events);
const eventKinds = [...new Set(events.map(({ event }) => event.kind))];

async function openFilled(t: Parameters<typeof StoreFolder.open>[0]): Promise<StoreFolder> {
  const folder = await StoreFolder.open(t);
  const [final, unfinalized] = [blocks.slice(0, finalCount), blocks.slice(finalCount)];
  await fillStore(folder.store, { final, unfinalized, sizes: [3, 1, 5] });
  return folder;
}

type Paging = { readonly order: "asc" | "desc"; readonly limit: number };

/** Reads all pages, one after another, and calls `between` after each. */
async function readAll(
  paging: Paging,
  read: (page: Paging & { after: Fill["seq"] | null }) => Promise<readonly { seq: Fill["seq"] }[]>,
  between: () => void = () => undefined,
): Promise<unknown[]> {
  const rows: { seq: Fill["seq"] }[] = [];
  for (;;) {
    const page = await read({ ...paging, after: rows.at(-1)?.seq ?? null });
    rows.push(...page);
    between();
    if (page.length < paging.limit) return rows;
  }
}

function readAllFills(
  store: IndexedFacts,
  paging: Paging,
  between?: () => void,
): Promise<unknown[]> {
  const common = { filter: {}, finalizedOnly: false };
  return readAll(paging, (page) => readFills(store, { ...page, ...common }), between);
}

function readAllEvents(
  store: IndexedFacts,
  paging: Paging,
  between?: () => void,
): Promise<unknown[]> {
  const common = { kinds: eventKinds, finalizedOnly: false };
  return readAll(paging, (page) => readEvents(store, { ...page, ...common }), between);
}

function inOrder<Row extends Fill | LocatedEvent>(rows: readonly Row[], order: string): Row[] {
  return order === "asc" ? [...rows] : rows.toReversed();
}

const anyPaging = fc.record({
  order: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(1000)),
});

describe("reading everything", () => {
  test("returns stored and unfinalized rows, in pages of any size", async (t) => {
    const { store } = await openFilled(t);
    await fc.assert(
      fc.asyncProperty(anyPaging, async (paging) => {
        assert.deepEqual(await readAllFills(store, paging), inOrder(fills, paging.order));
        assert.deepEqual(await readAllEvents(store, paging), inOrder(events, paging.order));
      }),
      propertySettings(12),
    );
  });

  test("stops at finality if requested", async (t) => {
    const { store } = await openFilled(t);
    const final = blocks.slice(0, finalCount);
    const page = { order: "asc", after: null, limit: 10_000, finalizedOnly: true } as const;
    assert.deepEqual(await readFills(store, { ...page, filter: {} }), getFills(final));
    assert.deepEqual(
      await readEvents(store, { ...page, kinds: eventKinds }),
      final.flatMap((block) => block.events),
    );
  });

  for (const order of ["asc", "desc"] as const) {
    test(`loses and repeats nothing while blocks become final, ${order}`, async (t) => {
      const { store } = await openFilled(t);
      let next = finalCount;
      let finalizing: Promise<unknown> = Promise.resolve();
      let overlaps = 0;
      // A block becomes final after each page, while the next page is being read.
      const finalizeOne = (): void => {
        const block = blocks[next];
        if (block === undefined) return;
        next += 1;
        overlaps += 1;
        finalizing = finalizing.then(() => finalizeFacts(store, block.number));
      };
      const paging = { order, limit: 4 };
      const [readFillRows, readEventRows] = await Promise.all([
        readAllFills(store, paging, finalizeOne),
        readAllEvents(store, paging, finalizeOne),
      ]);
      await finalizing;
      assert.deepEqual(readFillRows, inOrder(fills, order));
      assert.deepEqual(readEventRows, inOrder(events, order));
      assert(overlaps > 10, "blocks became final meanwhile");
    });
  }

  test("loses and repeats nothing for concurrent readers while all blocks become final one by one", async (t) => {
    const { store } = await openFilled(t);
    const done = new AbortController();
    const reader = async (paging: Paging): Promise<number> => {
      let rounds = 0;
      do {
        assert.deepEqual(await readAllFills(store, paging), inOrder(fills, paging.order));
        rounds += 1;
      } while (!done.signal.aborted);
      return rounds;
    };
    const readers = [
      reader({ order: "asc", limit: 50 }),
      reader({ order: "desc", limit: 50 }),
      reader({ order: "desc", limit: 1000 }),
    ];
    for (const block of blocks.slice(finalCount)) await finalizeFacts(store, block.number);
    done.abort();
    const rounds = await Promise.all(readers);
    assert.deepEqual(store.headBuffer.blocks, []);
    assert.equal(store.coverage?.last.number, blocks.at(-1)?.number);
    assert(rounds.every((count) => count >= 1));
  });
});
