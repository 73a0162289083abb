import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { Column } from "../disk/column.ts";
import { TokenSlots } from "./token-slots.ts";

/** Few ids, some of which differ in one byte only. */
const anyId = fc.tuple(fc.nat(40), fc.nat(2)).map(([first, last]) => {
  const id = Buffer.alloc(32, first % 7);
  id[0] = first;
  id[31] = last;
  return id;
});

const viewOf = (id: Buffer) => new DataView(id.buffer, id.byteOffset, id.length);

test("token slots find what a map would, however tokens come and go", () => {
  const anySteps = fc.array(fc.tuple(anyId, fc.nat(2000)), { maxLength: 200 });
  fc.assert(
    fc.property(anySteps, (steps) => {
      const ids = new Column("u8");
      const slots = new TokenSlots(ids);
      const expected = new Map<string, number>();
      for (const [id, slot] of steps) {
        const known = expected.get(id.toString("hex"));
        assert.equal(slots.find(viewOf(id), 0), known ?? -1);
        if (known !== undefined) {
          slots.delete(known);
          expected.delete(id.toString("hex"));
        } else if (![...expected.values()].includes(slot)) {
          for (const [at, byte] of id.entries()) ids.set(slot * 32 + at, byte);
          slots.add(slot);
          expected.set(id.toString("hex"), slot);
        }
      }
      for (const [hex, slot] of expected) {
        assert.equal(slots.find(viewOf(Buffer.from(hex, "hex")), 0), slot);
      }
    }),
    propertySettings(300),
  );
});

test("token slots grow with their tokens", () => {
  const ids = new Column("u8");
  const slots = new TokenSlots(ids);
  const bytesOf = (slot: number) => {
    const id = Buffer.alloc(32);
    id.writeUInt32LE(slot, 28);
    return id;
  };
  for (let slot = 0; slot < 5000; slot += 1) {
    for (const [at, byte] of bytesOf(slot).entries()) ids.set(slot * 32 + at, byte);
    slots.add(slot);
  }
  for (let slot = 0; slot < 5000; slot += 1)
    assert.equal(slots.find(viewOf(bytesOf(slot)), 0), slot);
});
