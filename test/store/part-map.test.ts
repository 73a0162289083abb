/** Pages of tokens with some parts of the table left out, against the fills themselves. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { firstSeqOf } from "../../src/base/ids.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { isTrade } from "../../src/market/fill.ts";
import type { FactStore } from "../../src/store/fact-store.ts";
import { readFills } from "../../src/store/read-fills.ts";
import type { Life } from "../../src/store/token-steps.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { encode, factsOf, fillStore, fillsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { testPairs } from "../support/test-markets.ts";

const plans = fc.sample(anyBlockPlan(4), { seed: testSeed, numRuns: 60 });
const blocks = factsOf(buildChain(plans));
const everything = { from: 0, to: Number.MAX_SAFE_INTEGER };
const always = { firstTimestamp: 0, lastTimestamp: Number.MAX_SAFE_INTEGER };
const positions = [firstSeqOf(0), ...fillsOf(blocks).map(({ seq }) => seq)];
const tokens = Object.values(testPairs).flat(2);

const anyPage = fc.record({
  tokenId: fc.constantFrom(...tokens),
  order: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.integer({ min: 1, max: 8 }),
  after: fc.option(fc.constantFrom(...positions)),
  seqFrom: fc.constantFrom(...positions),
  timestampTo: fc.option(fc.constantFrom(...blocks.map(({ timestamp }) => timestamp))),
  /** Only how fast they are found depends on how many there are said to be. */
  timesTold: fc.constantFrom(0, 1, 10),
});

async function assertSame(store: FactStore, of: readonly BlockFacts[], runs: number) {
  const trades = fillsOf(of).filter(isTrade);
  await fc.assert(
    fc.asyncProperty(anyPage, async ({ tokenId, timestampTo, seqFrom, timesTold, ...page }) => {
      const own = trades.filter((fill) => fill.tokenId === tokenId);
      const times = own.map(({ timestamp }) => timestamp);
      const life: Life = {
        trades: own.length * timesTold,
        firstTimestamp: Math.min(...times),
        lastTimestamp: Math.max(...times),
      };
      const filter = {
        roles: ["maker", "direct"],
        tokenIds: [tokenId],
        seqFrom,
        ...(timestampTo === null ? {} : { timestampTo }),
      } as const;
      const lifeOf = () => life;
      const found = await readFills(store, { ...page, filter, lifeOf, finalizedOnly: false });
      const wanted = own.filter(
        ({ seq, timestamp }) =>
          seq >= seqFrom &&
          (timestampTo === null || timestamp < timestampTo) &&
          isBehind(seq, page),
      );
      const inOrder = page.order === "asc" ? wanted : wanted.toReversed();
      assert.deepEqual(found, inOrder.slice(0, page.limit));
    }),
    propertySettings(runs),
  );
}

function isBehind(seq: number, page: { after: number | null; order: "asc" | "desc" }): boolean {
  if (page.after === null) return true;
  return page.order === "asc" ? seq > page.after : seq < page.after;
}

describe("pages of a token", () => {
  test("are the same with parts left out, however many were merged since", async (t) => {
    const { store } = await StoreFolder.open(t);
    await store.engine.command("SYSTEM STOP MERGES oddwire.fills");
    const [first, rest] = [blocks.slice(0, 40), blocks.slice(40)];
    await fillStore(store, { final: first, held: [], sizes: [7] });
    await store.parts.read(1);
    assert.ok(store.parts.within(everything, always).length > 2, "several parts");
    await assertSame(store, first, 60);
    for (const block of rest.slice(0, 15)) await store.append(encode([block]));
    for (const block of rest.slice(15)) store.tail.push(block);
    await assertSame(store, blocks, 40);
    await store.engine.command("SYSTEM START MERGES oddwire.fills");
    await store.engine.command("OPTIMIZE TABLE oddwire.fills FINAL");
    await assertSame(store, blocks, 40);
  });

  test("name the parts that cannot have what is asked for", async (t) => {
    const { store } = await StoreFolder.open(t);
    await store.engine.command("SYSTEM STOP MERGES oddwire.fills");
    await fillStore(store, { final: blocks, held: [], sizes: [20] });
    assert.equal(store.parts.sqlWithin(everything, always), "");
    await store.parts.read(1);
    const parts = store.parts.within(everything, always);
    const [oldest, next] = parts;
    assert.ok(oldest !== undefined && next !== undefined);
    assert.equal(store.parts.sqlWithin(everything, always), "");
    const others = parts.length - 1;
    for (const sql of [
      store.parts.sqlWithin(oldest, always),
      store.parts.sqlWithin(everything, {
        firstTimestamp: 0,
        lastTimestamp: next.firstTimestamp - 1,
      }),
    ])
      assert.equal(sql.match(/all_/g)?.length, others, sql);
  });
});
