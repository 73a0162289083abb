import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { MemoryStateStore } from "../../test/support/memory-state-store.ts";
import { propertySettings } from "../../test/support/property-settings.ts";
import { knownContracts, readRecordedBlocks } from "../../test/support/recorded-chain.ts";
import { getFacts } from "../../test/support/store-chain.ts";
import type { BlockFacts } from "../market/block-facts.ts";
import { toFinalDelta } from "../market/delta.ts";
import type { Fill } from "../market/fill.ts";
import { getRowContext } from "../query/row-context.ts";
import { MarketState } from "../views/markets/market-state.ts";
import { type RowContext, toTradeRow } from "./trade-row.ts";
import { tradeWriter } from "./trade-writer.ts";

function assertSame(fills: readonly Fill[], context: RowContext): void {
  const write = tradeWriter(context);
  for (const fill of fills) {
    assert.equal(write(fill), JSON.stringify(toTradeRow(fill, context)));
  }
}

/** A context in which the first half of the blocks is final, so that rows have either status. */
function getContext(blocks: readonly BlockFacts[]): RowContext {
  const state = new MarketState(knownContracts(), new MemoryStateStore());
  for (const block of blocks) state.apply(toFinalDelta(block));
  const middle = blocks[Math.floor(blocks.length / 2)];
  const context = getRowContext({ facts: { coverage: null }, state });
  return { ...context, finalizedBlock: middle?.number ?? -1 };
}

suite("the writer of trades writes the same JSON as JSON.stringify of their rows", () => {
  for (const recording of ["contracts-a", "contracts-gen2", "contracts-gen3"] as const) {
    test(recording, () => {
      const recorded = readRecordedBlocks(recording).map((block) => ({ block, fills: [] }));
      const blocks = getFacts(recorded);
      const fills = blocks.flatMap((block) => block.fills);
      assert(fills.length > 0);
      assertSame(fills, getContext(blocks));
    });
  }

  test("for amounts of any size and any name of an outcome", () => {
    const [first] = getFacts(
      readRecordedBlocks("contracts-gen2").map((block) => ({ block, fills: [] })),
    ).flatMap((block) => block.fills);
    assert(first !== undefined);
    const anyAmount = fc.oneof(
      fc.bigInt({ min: 0n, max: 3_000_000n }),
      fc.bigInt({ min: 0n, max: 10n ** 30n }),
    );
    const anyFill = fc
      .record({
        size: anyAmount,
        value: anyAmount.chain((value) => fc.constantFrom(value, -value)),
        fee: anyAmount,
        feeRefund: anyAmount,
        makerAmount: anyAmount,
      })
      .map((amounts): Fill => ({ ...first, ...amounts }));
    const outcome = 'a "quoted" \\ outcome \u2028 \ud83d';
    const context = getContext([]);
    const getToken: RowContext["getToken"] = (tokenId) => ({
      ...context.getToken(tokenId),
      outcome,
    });
    fc.assert(
      fc.property(fc.array(anyFill), (fills) => {
        assertSame(fills, { ...context, getToken });
      }),
      propertySettings(200),
    );
  });
});
