import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import {
  deriveComboConditionId,
  deriveMigratedConditionId,
  deriveMigratedEventId,
  deriveNativeEventId,
} from "../../../test/support/derive-gen3-ids.ts";
import { readFixture } from "../../../test/support/read-fixture.ts";
import type { ConditionId, Hash, TokenId } from "../../base/ids.ts";
import { formatTokenId, parseTokenId, toTokenId } from "../../base/ids.ts";
import {
  deriveGen3ConditionId,
  deriveGen3ConditionIds,
  deriveGen3TokenIds,
  parseGen3TokenId,
} from "./gen3-ids.ts";

/** Pads an id, which these tests write without its trailing zeros, to 32 bytes. */
function padded(digits: string): string {
  return digits.padEnd(66, "0");
}

function tokenIdOfDecimal(decimal: string): TokenId {
  const tokenId = parseTokenId(decimal);
  assert.ok(tokenId !== null);
  return tokenId;
}

function toHex(text: string): string {
  return `0x${Buffer.from(text).toString("hex")}`;
}

describe("derives the ids known from the chain", () => {
  test("of a binary condition, from its data", () => {
    assert.equal(
      deriveNativeEventId("binary", toHex("uma-fro-111-polymarket-v2-e2e-binary-v1")),
      padded("0x018804eed8e0a0aaae200582e434c0b4f5"),
    );
  });

  test("of a combination of two migrated conditions", () => {
    const legs = [
      padded("0x014cc5a5f1770d43bcfd7194d3985be115"),
      `${padded("0x01f263a51dbb1d8f84222513e91a06969d").slice(0, -1)}1`,
    ] as TokenId[];
    const conditionId = deriveComboConditionId(legs);
    assert.equal(conditionId, padded("0x033d7bbf065bdf8ccf1b2bc32295db4dee"));
    assert.equal(
      formatTokenId(deriveGen3TokenIds(conditionId)[0]),
      "1465570281521417484089349842073433359851434826329862370366262471336197619712",
    );
  });

  test("of a migrated binary condition", () => {
    const legacy = "0x182390641d3b1b47cc64274b9da290efd04221c586651ba190880713da6347d9";
    const tokenIds = deriveGen3TokenIds(deriveMigratedConditionId(legacy as ConditionId));
    assert.deepEqual(tokenIds.map(formatTokenId), [
      "820273463796106857669529020726556138260391893779458913718233878571299897344",
      "820273463796106857669529020726556138260391893779458913718233878571299897345",
    ]);
  });

  test("of a migrated neg-risk event with 60 questions", () => {
    const legacy = "0x2c3d7e0eee6f058be3006baabf0d54a07da254ba47fe6e3e095e7990c7814700" as Hash;
    const eventId = deriveMigratedEventId(legacy, 60);
    const start = "0x027da254ba47fe6e3e095e7990c7814700003c00000000000000000000";
    assert.equal(eventId, `${start}000000`);

    const conditionIds = deriveGen3ConditionIds(eventId);
    assert.equal(conditionIds.length, 61);
    assert.equal(conditionIds[5], `${start}000500`);
    const other = conditionIds[60] as ConditionId;
    assert.deepEqual(deriveGen3TokenIds(other), [`${start}003c00`, `${start}003c01`]);
    assert.deepEqual(parseGen3TokenId(`${start}003c01` as TokenId), {
      module: "neg_risk",
      conditionId: other,
      eventId,
      conditionIndex: 60,
    });
  });
});

type RecordedMarket = {
  condition_id: ConditionId;
  kind: string;
  module: number;
  yes_token_id: string;
  no_token_id: string;
  event_id: string | null;
  condition_index: number;
  legacy_condition_id: ConditionId | null;
  legs: string[] | null;
};

test("derives the ids of every recorded condition", () => {
  const markets = readFixture("contracts-gen3/expected-markets.json.gz") as RecordedMarket[];
  assert.equal(markets.length, 24);
  for (const market of markets) {
    const { condition_id: conditionId, legs, legacy_condition_id: legacy } = market;
    const tokenIds = [market.yes_token_id, market.no_token_id].map(tokenIdOfDecimal);
    assert.deepEqual(deriveGen3TokenIds(conditionId), tokenIds);
    for (const tokenId of tokenIds) {
      const position = parseGen3TokenId(tokenId);
      assert.ok(position !== null);
      assert.equal(position.module, ["binary", "neg_risk", "combinatorial"][market.module - 1]);
      assert.equal(position.conditionId, conditionId);
      assert.equal(position.conditionIndex, market.condition_index);
      assert.equal(position.eventId, market.event_id ?? conditionId);
      const siblings = deriveGen3ConditionIds(position.eventId);
      assert.equal(siblings[market.condition_index], conditionId);
    }
    if (legs !== null) {
      assert.equal(deriveComboConditionId(legs.map(tokenIdOfDecimal)), conditionId);
    }
    if (legacy !== null && market.module === 1) {
      assert.equal(deriveMigratedConditionId(legacy), conditionId);
    }
  }
});

describe("refuses ids that no module makes", () => {
  const valid = padded("0x018804eed8e0a0aaae200582e434c0b4f5");
  const invalid = {
    "unknown module": valid.replace("0x01", "0x04"),
    "no module": valid.replace("0x01", "0x00"),
    "outcome 2": `${valid.slice(0, -2)}02`,
    "outcome 16": `${valid.slice(0, -2)}10`,
    "first reserved bit": `${valid.slice(0, 40)}8${valid.slice(41)}`,
    "last reserved bit": `${valid.slice(0, 55)}1${valid.slice(56)}`,
  };
  for (const [name, tokenId] of Object.entries(invalid)) {
    test(name, () => assert.equal(parseGen3TokenId(tokenId as TokenId), null));
  }

  test("accepts any resolution chain", () => {
    const other = `${valid.slice(0, 59)}1${valid.slice(60)}` as TokenId;
    assert.equal(parseGen3TokenId(other)?.conditionId, other);
  });
});

const field = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });

test("parses any bits to null, or to a position whose parts yield the id again", () => {
  const likely = fc
    .tuple(fc.constantFrom(0n, 1n, 2n, 3n, 4n), field(144), fc.constantFrom(0n, 1n), field(26))
    .map(([module, named, reserved, rest]) => {
      return (module << 248n) | (named << 104n) | (reserved << 70n) | rest;
    });
  fc.assert(
    fc.property(fc.oneof(field(256), likely).map(toTokenId), (tokenId) => {
      const position = parseGen3TokenId(tokenId);
      if (position === null) return;
      const { conditionId, eventId, conditionIndex } = position;
      const outcomeIndex = Number(BigInt(tokenId) & 1n);
      assert.equal(deriveGen3ConditionId(eventId, conditionIndex), conditionId);
      assert.equal(deriveGen3TokenIds(conditionId)[outcomeIndex], tokenId);
      assert.equal(
        deriveGen3TokenIds(conditionId)[1 - outcomeIndex],
        toTokenId(BigInt(tokenId) ^ 1n),
      );
    }),
    { numRuns: 1000 },
  );
});
