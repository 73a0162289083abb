import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { anyMarket } from "../../../test/support/any-market.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { propertySettings, testSeed } from "../../../test/support/property-settings.ts";
import { SeededRandom } from "../../../test/support/seeded-random.ts";
import type { ConditionId } from "../../base/ids.ts";
import type { Column } from "../disk/column.ts";
import { MarketColumns, marketFlags } from "./market-columns.ts";
import { type ListedMarket, listMarkets } from "./market-list.ts";

/** More markets than fit into one chunk of a loop. */
const markets = 9000;
const sorts = ["volume_24h", "volume", "trades_24h", "created_at", "end_date"] as const;
type Sort = (typeof sorts)[number];
type Order = "asc" | "desc";

function openColumns(random: SeededRandom): MarketColumns {
  const columns = new MarketColumns(new MemoryStateStore());
  for (let ordinal = 0; ordinal < markets; ordinal += 1) {
    const digits = Array.from({ length: 64 }, () => random.integer(0, 15).toString(16)).join("");
    columns.add(`0x${digits}` as ConditionId);
    columns.flags.set(ordinal, ordinal % 3 === 0 ? marketFlags.listed : 3);
    for (const sort of sorts) getKeys(columns, sort).set(ordinal, random.integer(0, 400));
  }
  return columns;
}

function getKeys(columns: MarketColumns, sort: Sort): Column {
  const { dayVolumeUsd, volumeUsd, dayTrades, createdAt, endMs } = columns;
  const all = {
    volume_24h: dayVolumeUsd,
    volume: volumeUsd,
    trades_24h: dayTrades,
    created_at: createdAt,
    end_date: endMs,
  };
  return all[sort];
}

/** All current positions of a list, sorted as documented. */
function naivePlaces(
  columns: MarketColumns,
  { sort, order, requested }: { sort: Sort; order: Order; requested: number },
): ListedMarket[] {
  const keys = getKeys(columns, sort);
  const sign = order === "asc" ? 1 : -1;
  return Array.from({ length: markets }, (_, ordinal): ListedMarket => {
    const key = keys.get(ordinal);
    // Of the sorts here, only an end can be null.
    const rank = sort === "end_date" && key !== 0 ? 2 : 1;
    return { rank, key, conditionId: columns.conditionIdAt(ordinal) };
  })
    .filter((_, ordinal) => (columns.flags.get(ordinal) & requested) === requested)
    .toSorted(
      (a, b) =>
        b.rank - a.rank || sign * (a.key - b.key) || (a.conditionId < b.conditionId ? -1 : 1),
    );
}

const anyRequested = fc.record({
  sort: fc.constantFrom(...sorts),
  order: fc.constantFrom<Order[]>("asc", "desc"),
  requested: fc.constantFrom<number[]>(marketFlags.listed, 3),
  limit: fc.integer({ min: 1, max: 101 }),
  changes: fc.constantFrom(0, 50),
});

test("pages of a list show the markets as they were when the list was made, whatever changes later", () => {
  const random = new SeededRandom(testSeed);
  const columns = openColumns(random);
  fc.assert(
    fc.property(fc.array(anyRequested, { maxLength: 6 }), (all) => {
      const lists = all.map(({ sort, order, requested, limit, changes }) => {
        const flags = { mask: requested, expected: requested };
        const list = listMarkets(columns, { ...anyMarket, flags, sort });
        const expected = naivePlaces(columns, { sort, order, requested });
        for (let i = 0; i < changes; i += 1) {
          getKeys(columns, sort).set(random.integer(0, markets - 1), random.integer(0, 400));
        }
        return { list, expected, order, limit };
      });
      for (const { list, expected, order, limit } of lists) {
        assert.equal(list.length, expected.length);
        let edge: ListedMarket | null = null;
        for (let from = 0; from < 4 * limit; from += limit) {
          const places: ListedMarket[] = list.page(edge, { order, limit });
          assert.deepEqual(places, expected.slice(from, from + limit));
          edge = places.at(-1) ?? null;
        }
      }
    }),
    propertySettings(20),
  );
});

test("a list skips a market while it is reverted, and shows no other market in its place", () => {
  const stateStore = new MemoryStateStore();
  const columns = new MarketColumns(stateStore);
  const getId = (digit: string) => `0x${digit.repeat(64)}` as ConditionId;
  const [first, second, third] = [getId("1"), getId("2"), getId("3")];
  const add = (block: number, conditionId: ConditionId) => {
    stateStore.journal.record(block, () => {
      const ordinal = columns.add(conditionId);
      columns.set(columns.flags, ordinal, marketFlags.listed);
      columns.set(columns.createdAt, ordinal, block);
    });
  };
  const flags = { mask: marketFlags.listed, expected: marketFlags.listed };
  const open = () => listMarkets(columns, { ...anyMarket, flags, sort: "created_at" });
  const getIds = (list: ReturnType<typeof open>) =>
    list.page(null, { order: "asc", limit: 9 }).map(({ conditionId }) => conditionId);
  add(1, first);
  add(2, second);
  const list = open();
  stateStore.journal.revertTo(1);
  assert.deepEqual(getIds(list), [first]);
  add(2, third);
  assert.deepEqual(getIds(list), [first]);
  assert.deepEqual(getIds(open()), [first, third]);
  add(3, second);
  stateStore.journal.withoutRecorded(() => {});
  assert.deepEqual(getIds(list), [first, second]);
  assert.deepEqual(getIds(open()), [first, third, second]);
});
