import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { JournaledMap } from "./journaled-map.ts";
import { UndoLog } from "./undo-log.ts";

type Change = { readonly map: 0 | 1; readonly key: string; readonly value: number };
type Step =
  | { readonly kind: "record"; readonly changes: readonly Change[] }
  | { readonly kind: "revert"; readonly blocks: number }
  | { readonly kind: "settle"; readonly lag: number };

const keys = ["0x00", "0x01", "0x02", "0x03", "0x04"];
const anyChange: fc.Arbitrary<Change> = fc.record({
  map: fc.constantFrom(0, 1),
  key: fc.constantFrom(...keys),
  value: fc.nat(9),
});
const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("record" as const), changes: fc.array(anyChange) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("revert" as const), blocks: fc.nat(4) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("settle" as const), lag: fc.nat(3) }) },
  ),
  { maxLength: 30 },
);

function mapOver(journal: UndoLog, table = new Map<string, number>()) {
  return new JournaledMap<string, number>({ journal, table: () => table as never }, "test");
}

describe("journaled maps", () => {
  test("contain the recorded blocks again after work without them throws", () => {
    const journal = new UndoLog();
    const map = mapOver(journal);
    map.set("0x01", 1);
    journal.record(1, () => map.set("0x01", 2));
    const fail = (): void => {
      assert.equal(map.get("0x01"), 1);
      throw new Error("the disk is full");
    };
    assert.throws(() => journal.withoutRecorded(fail), /disk is full/);
    assert.equal(map.get("0x01"), 2);
  });

  test("contain exactly the changes of the remaining blocks", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const journal = new UndoLog();
        const tables = [new Map<string, number>(), new Map<string, number>()] as const;
        const maps = tables.map((table) => mapOver(journal, table));
        let blocks: (readonly Change[])[] = [];
        let settled = 0;
        for (const step of steps) {
          if (step.kind === "record") {
            blocks.push(step.changes);
            journal.record(blocks.length, () => {
              for (const { map, key, value } of step.changes) maps[map]?.set(key, value);
            });
          } else if (step.kind === "revert") {
            const safe = Math.max(settled, blocks.length - step.blocks);
            blocks = blocks.slice(0, safe);
            journal.revertTo(safe);
          } else {
            settled = Math.max(settled, blocks.length - step.lag);
            journal.finalizeThrough(settled);
          }
          for (const [index, map] of maps.entries()) {
            const changes = blocks.flat().filter((change) => change.map === index);
            const expected = new Map(changes.map(({ key, value }) => [key, value]));
            // Keys are in the order in which they were first set.
            assert.deepEqual([...(tables[index]?.keys() ?? [])], [...expected.keys()]);
            for (const key of keys) assert.equal(map.get(key), expected.get(key));
          }
        }
      }),
      propertySettings(500),
    );
  });

  test("keep changes made outside of any block", () => {
    const journal = new UndoLog();
    const map = mapOver(journal);
    map.set("final", 1);
    journal.record(7, () => map.set("final", 2));
    journal.revertTo(6);
    journal.revertTo(0);
    assert.equal(map.get("final"), 1);
  });

  test("can revert a block whose application failed halfway", () => {
    const journal = new UndoLog();
    const map = mapOver(journal);
    const apply = (): void =>
      journal.record(7, () => {
        map.set("half", 1);
        throw new Error("halfway");
      });
    assert.throws(apply, /halfway/);
    journal.revertTo(6);
    assert.equal(map.get("half"), undefined);
  });
});
