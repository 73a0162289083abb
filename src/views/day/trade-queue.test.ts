/** Compares the queue with a list of objects, with amounts, times and positions of every size. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import type { Seq } from "../../base/ids.ts";
import type { Side } from "../../contracts/events.ts";
import type { DayTrade } from "../../market/fill.ts";
import { pageTrades, TradeQueue } from "./trade-queue.ts";

const slotsCount = 3;

/** A trade, and how much later it is than the trade before. */
type Later = {
  readonly slot: number;
  readonly seqs: number;
  readonly seconds: number;
  readonly size: bigint;
  readonly value: bigint;
  readonly side: Side;
};
type Step =
  | { readonly kind: "push"; readonly trades: readonly Later[]; readonly times: number }
  | { readonly kind: "pop" | "shift"; readonly count: number };

const limits = [2n ** 32n, 2n ** 48n - 2n ** 32n, 2n ** 48n, 2n ** 53n, 10n ** 29n];
const anyAmount = fc.oneof(
  fc.bigInt({ min: 0n, max: 9n }),
  fc
    .tuple(fc.constantFrom(...limits), fc.bigInt({ min: -1n, max: 1n }))
    .map(([limit, by]) => limit + by),
);
const anyLater: fc.Arbitrary<Later> = fc.record({
  slot: fc.nat(slotsCount - 1),
  seqs: fc.constantFrom(1, 1, 1_000_000, 2 ** 32 - 1, 2 ** 32, 2 ** 33),
  seconds: fc.constantFrom(0, 0, 1, 86_400),
  size: anyAmount,
  value: anyAmount,
  side: fc.constantFrom("BUY", "SELL"),
});
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("push" as const),
    trades: fc.array(anyLater, { minLength: 1, maxLength: 5 }),
    // Mostly few trades. Sometimes enough to fill a page.
    times: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.constant(pageTrades / 2)),
  }),
  fc.record({ kind: fc.constantFrom("pop", "shift"), count: fc.oneof(fc.nat(5), fc.nat(70_000)) }),
);

const one: Later = { slot: 1, seqs: 1, seconds: 0, size: 1n, value: 1n, side: "BUY" };
const halfPage: Step = { kind: "push", trades: [one], times: pageTrades / 2 };
/** The first page is left and used again. */
const pagesOfTrades: Step[] = [
  halfPage,
  halfPage,
  halfPage,
  { kind: "shift", count: pageTrades + 1 },
  { ...halfPage, trades: [{ ...one, slot: 2 }, one] },
  { kind: "pop", count: 3 },
];

type Known = Omit<DayTrade, "tokenId"> & { readonly slot: number; readonly number: number };

test("the queue returns every trade as it was added, after any additions and removals", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 12 }), (steps) => {
      const queue = new TradeQueue(new MemoryStateStore());
      const added: Known[] = [];
      let [seq, timestamp] = [1_000_000, 1_780_000_000];
      for (const step of steps) {
        if ("count" in step) {
          for (let left = Math.min(step.count, added.length); left > 0; left -= 1) {
            queue[step.kind]();
            added[step.kind]();
          }
          continue;
        }
        const many = Array.from({ length: step.times }, () => step.trades).flat();
        const { next } = queue;
        const trades = many.map(({ seqs, seconds, ...rest }, index) => {
          seq += seqs;
          timestamp += step.times === 1 ? seconds : 0;
          return { ...rest, seq: seq as Seq, timestamp, number: next + index };
        });
        add(queue, added, trades);
        for (const trade of trades) added.push(trade);
      }
      assertHolds(queue, added);
    }),
    { ...propertySettings(40), examples: [[pagesOfTrades]] },
  );
});

function add(queue: TradeQueue, added: readonly Known[], trades: readonly Known[]): void {
  const getNewest = new Float64Array(slotsCount);
  for (const { slot, number } of added) getNewest[slot] = number;
  for (const trade of trades) {
    assert.equal(queue.push(trade.slot, trade, getNewest[trade.slot] ?? 0), trade.number);
    getNewest[trade.slot] = trade.number;
  }
}

function assertHolds(queue: TradeQueue, added: readonly Known[]): void {
  assert.equal(queue.next - queue.oldest, added.length);
  const before = new Map<number, number>();
  for (const { number, slot, seq, timestamp, size, value, side } of added) {
    const actual = [queue.toSeq(number), queue.getTimestamp(number), queue.getSlot(number)];
    const stored = queue.getAmounts(number);
    const amounts = [BigInt(stored.size), BigInt(stored.value)];
    const isSame =
      actual[0] === seq &&
      actual[1] === timestamp &&
      actual[2] === slot &&
      amounts[0] === size &&
      amounts[1] === value &&
      queue.getSide(number) === side &&
      queue.getBefore(number) === (before.get(slot) ?? 0);
    if (!isSame) assert.fail(`trade ${number}: ${actual.join(" ")}, ${amounts.join(" ")}`);
    const last = before.get(slot);
    if (last !== undefined) assert.equal(queue.getAfter(last), number);
    before.set(slot, number);
  }
  for (const newest of before.values()) assert.equal(queue.getAfter(newest), 0);
}
