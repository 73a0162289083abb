import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import type { ConditionId, TokenId } from "../../base/ids.ts";
import { parseGen3TokenId } from "../../market/ids/gen3-ids.ts";
import { conditionIdsOf, idsIn } from "./token-conditions.ts";

/** Ids of all forms, and such that a module could not have made for one digit of them. */
const anyTokenId = fc
  .tuple(
    fc.constantFrom("00", "01", "02", "03", "04", "ff"),
    fc.stringMatching(/^[0-9a-f]{36}$/),
    fc.constantFrom("0".repeat(16), `01${"0".repeat(14)}`, `${"0".repeat(15)}1`),
    fc.stringMatching(/^[0-9a-f]{8}$/),
    fc.constantFrom("00", "01", "02", "11"),
  )
  .map((parts) => `0x${parts.join("")}` as TokenId);

test("tokens of generation 3 report their conditions as bytes as they do as text", () => {
  fc.assert(
    fc.property(fc.array(anyTokenId), fc.array(anyTokenId), (tokenIds, known) => {
      const conditionOf = (tokenId: TokenId) =>
        known.includes(tokenId) ? (`0x${"22".repeat(32)}` as ConditionId) : undefined;
      const bytes = Buffer.from(tokenIds.map((id) => id.slice(2)).join(""), "hex");
      const words = new Uint32Array(bytes.length / 4);
      new Uint8Array(words.buffer).set(bytes);
      const expected = tokenIds.map(
        (id) => parseGen3TokenId(id)?.conditionId ?? conditionOf(id) ?? `0x${"00".repeat(32)}`,
      );
      assert.deepEqual([...idsIn(conditionIdsOf(words, conditionOf))], expected);
    }),
    propertySettings(300),
  );
});
