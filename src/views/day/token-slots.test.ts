/** Slots of tokens against a map, with ids that differ in little and are looked for in one place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { type TokenId, tokenIdOf } from "../../base/ids.ts";
import { Column } from "../disk/column.ts";
import { MemoryStateStore, type StateStore } from "../disk/state-store.ts";
import { TokenSlots } from "./token-slots.ts";

const anyToken = fc.nat(300).map((index) => tokenIdOf(BigInt(index) << 220n));

/** Gives the same columns to one life after the other. */
class SharedStateStore extends MemoryStateStore {
  readonly #columns = new Map<string, unknown>();

  override column: StateStore["column"] = (name, kind) => {
    const column = (this.#columns.get(name) as Column<typeof kind> | undefined) ?? new Column(kind);
    this.#columns.set(name, column);
    return column;
  };
}

test("a token keeps its slot until it is given back, also in the next life", () => {
  fc.assert(
    fc.property(fc.array(anyToken, { maxLength: 2000, size: "max" }), (tokenIds) => {
      const stateStore = new SharedStateStore();
      const slots = new TokenSlots(stateStore, "test");
      const known = new Map<TokenId, number>();
      for (const tokenId of tokenIds) {
        const slot = known.get(tokenId);
        assert.equal(slots.find(tokenId), slot ?? -1);
        if (slot === undefined) known.set(tokenId, slots.add(tokenId));
        else slots.remove(slot);
        if (slot !== undefined) known.delete(tokenId);
      }
      for (const life of [slots, new TokenSlots(stateStore, "test")]) {
        for (const [tokenId, slot] of known) {
          assert.equal(life.find(tokenId), slot);
          assert.equal(life.tokenIdAt(slot), tokenId);
        }
        const taken = Array.from({ length: life.length }, (_, slot) => life.isTaken(slot));
        assert.equal(taken.filter(Boolean).length, known.size);
      }
      assert.equal(new Set(known.values()).size, known.size);
    }),
    propertySettings(100),
  );
});
