import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../test/support/property-settings.ts";
import {
  formatTokenId,
  parseAddress,
  parseConditionId,
  parseHash,
  parseTokenId,
  toBlockNumber,
  toFirstSeq,
  toLogIndex,
  toSeq,
  toTokenId,
} from "./ids.ts";

const digits64 = "AB".repeat(32);
const digits62 = "AB".repeat(31);
const digits40 = "Ab".repeat(20);
const uintMax = 2n ** 256n - 1n;

describe("sequence numbers", () => {
  test("sort like (block, log index), and decode to both", () => {
    // A billion blocks, far more than any chain has.
    const place = fc.tuple(fc.nat(1_000_000_000), fc.nat(999_999));
    fc.assert(
      fc.property(place, place, ([block, index], [otherBlock, otherIndex]) => {
        const seq = toSeq(block, index);
        assert(Number.isSafeInteger(seq));
        assert.deepEqual([toBlockNumber(seq), toLogIndex(seq)], [block, index]);
        assert(toFirstSeq(block) <= seq && seq < toFirstSeq(block + 1));
        const order = block - otherBlock || index - otherIndex;
        assert.equal(Math.sign(seq - toSeq(otherBlock, otherIndex)), Math.sign(order));
      }),
      propertySettings(1000),
    );
  });
});

describe("hex ids", () => {
  test("are parsed in any case and returned in lower case", () => {
    assert.equal(parseHash(`0x${digits64}`), `0x${digits64.toLowerCase()}`);
    assert.equal(parseAddress(`0x${digits40}`), `0x${digits40.toLowerCase()}`);
    assert.equal(parseConditionId(`0x${digits64}`), `0x${digits64.toLowerCase()}`);
    assert.equal(parseHash(`0X${digits64}`), `0x${digits64.toLowerCase()}`);
    assert.equal(parseAddress(`0X${digits40}`), `0x${digits40.toLowerCase()}`);
    assert.equal(parseConditionId(`0X${digits62}`), `0x${digits62.toLowerCase()}00`);
  });

  test("a condition id of 31 bytes is padded with a zero byte on the right", () => {
    assert.equal(parseConditionId(`0x${digits62}`), `0x${digits62.toLowerCase()}00`);
  });

  test("any other text is refused", () => {
    const wrong = [
      "",
      "0x",
      digits64,
      `0x${digits64}0`,
      `0x${digits64.slice(1)}`,
      `0x${digits64.slice(1)}g`,
      `0x${digits64}\n`,
      ` 0x${digits64}`,
    ];
    for (const text of wrong) {
      assert.equal(parseHash(text), null, JSON.stringify(text));
      assert.equal(parseConditionId(text), null, JSON.stringify(text));
      assert.equal(parseAddress(text.slice(0, 43)), null, JSON.stringify(text));
    }
  });
});

describe("token ids", () => {
  test("are parsed from decimal to 32 bytes and formatted back", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: uintMax }), (value) => {
        const tokenId = parseTokenId(value.toString());
        assert(tokenId !== null);
        assert.match(tokenId, /^0x[0-9a-f]{64}$/);
        assert.equal(tokenId, toTokenId(value));
        assert.equal(formatTokenId(tokenId), value.toString());
      }),
      propertySettings(500),
    );
  });

  test("are parsed with leading zeros; text that is not a decimal uint256 is refused", () => {
    assert.equal(parseTokenId("007"), toTokenId(7n));
    const wrong = ["", "-1", "1.0", "0x1", "1e3", " 1", "1\n", "1_0", (uintMax + 1n).toString()];
    for (const text of [...wrong, "9".repeat(78), "1".repeat(79)]) {
      assert.equal(parseTokenId(text), null, JSON.stringify(text));
    }
  });
});
