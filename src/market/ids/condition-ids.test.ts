import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { readFixture } from "../../../test/support/read-fixture.ts";
import type { Address, ConditionId, Hash } from "../../base/ids.ts";
import { formatTokenId } from "../../base/ids.ts";
import {
  deriveCollectionId,
  deriveConditionId,
  deriveTokenId,
  deriveTokenIds,
  fieldPrime,
} from "./condition-ids.ts";
import { keccakOfPacked, toWord } from "./keccak.ts";

const usdce = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174" as Address;
const wrappedCollateral = "0x3a3bd7bb9528e159577f7c2e685cc81a765002e2" as Address;
const negRiskAdapter = "0xd91e80cf2e7be2e162c6513ced06f1dd0da35296" as Address;

type ConditionRow = {
  oracle: Address;
  questionId: Hash;
  conditionId: ConditionId;
  tokenIds: [string, string];
};
type TextRow = {
  oracle?: string;
  conditionOracle?: string;
  questionID: Hash;
  conditionId: ConditionId;
  collectionIds: [Hash, Hash];
  tokenIds: [string, string];
};

function getCollateral(oracle: Address): Address {
  return oracle === negRiskAdapter ? wrappedCollateral : usdce;
}

function decimalTokenIds(conditionId: ConditionId, collateral: Address): string[] {
  return deriveTokenIds(conditionId, collateral).map(formatTokenId);
}

describe("real conditions", () => {
  const rows = readFixture("chain-real/conditions_verified.json.gz") as ConditionRow[];

  test("have the derived condition ids", () => {
    assert.equal(rows.length, 258);
    for (const { oracle, questionId, conditionId } of rows) {
      assert.equal(deriveConditionId({ oracle, questionId, outcomeSlotCount: 2 }), conditionId);
    }
  });

  test("have the derived token ids of outcome 0 and outcome 1", () => {
    for (const { oracle, conditionId, tokenIds } of rows) {
      assert.deepEqual(decimalTokenIds(conditionId, getCollateral(oracle)), tokenIds);
    }
  });
});

test("real questions have the derived condition, collection and token ids", () => {
  const rows = readFixture("chain-real/ancillary_verified.json.gz") as TextRow[];
  assert.equal(rows.length, 19);
  for (const row of rows) {
    const oracle = (row.oracle ?? row.conditionOracle ?? "").toLowerCase() as Address;
    const condition = { oracle, questionId: row.questionID, outcomeSlotCount: 2 };
    const conditionId = deriveConditionId(condition);
    assert.equal(conditionId, row.conditionId);
    assert.equal(deriveCollectionId(conditionId, 1), row.collectionIds[0]);
    assert.equal(deriveCollectionId(conditionId, 2), row.collectionIds[1]);
    assert.deepEqual(decimalTokenIds(conditionId, getCollateral(oracle)), row.tokenIds);
  }
});

const worked = [
  {
    name: "normal market",
    oracle: "0x65070be91477460d8a7aeeb94ef92fe056c2f2a7",
    questionId: "0x52e264bc16a4a0dd202f521e97a3476aea56d1c6120077db1fb9aca2caf7797c",
    conditionId: "0xd57eed0d44f5b8ca54925d8d6ff440b146b3e6e071da18136ee3ee572d34479e",
    collateral: usdce,
    collectionIds: [
      "0x1d852d8d9b540e66e5eae142846b98075fbddef3ccc1dede37492d1647b68dde",
      "0x5c3b54093e6ee6c320b675e03c3298998773af044f4bb610d5caa4c8bc099f6c",
    ],
    tokenIds: [
      "22978793223071892222859460592277435458011604214087068523744633723809814935807",
      "108268928354766371660560153450121076545199284531791348447523752861907448942629",
    ],
  },
  {
    name: "neg-risk market",
    oracle: negRiskAdapter,
    questionId: "0x2c3d7e0eee6f058be3006baabf0d54a07da254ba47fe6e3e095e7990c7814705",
    conditionId: "0xc8f1cf5d4f26e0fd9c8fe89f2a7b3263b902cf14fde7bfccef525753bb492e47",
    collateral: wrappedCollateral,
    collectionIds: [
      "0x5fd94c4a1b43582608d02de338a624dc7a4f0634528eb63e3c51064d20c3e943",
      "0x1563f0838226ec4dec97b79458631a445818af2c71270a29493582f651e4c415",
    ],
    tokenIds: [
      "60590045489347122735554346200880179420435533609307820342798544098823516727807",
      "76005700027045000587004110133818166617024719626220722682005164003117993034812",
    ],
  },
  {
    name: "second question of the neg-risk market",
    oracle: negRiskAdapter,
    questionId: "0x2c3d7e0eee6f058be3006baabf0d54a07da254ba47fe6e3e095e7990c7814707",
    conditionId: "0xe39adea057926dc197fe30a441f57a340b2a232d5a687010f78bba9b6e02620f",
    collateral: wrappedCollateral,
    collectionIds: null,
    tokenIds: null,
  },
  {
    name: "market settled in another token than its collateral",
    oracle: null,
    questionId: null,
    conditionId: "0x182390641d3b1b47cc64274b9da290efd04221c586651ba190880713da6347d9",
    collateral: usdce,
    collectionIds: [
      "0x6b84d2be6005c33bb1d58082f842ee82bcce91e69b0f2e717500764d066cfd80",
      "0x038153185e9a42951afe794e5a8c3f40d8ee6fe0212eeab4ae95af77c78f1883",
    ],
    tokenIds: [
      "102936224134271070189104847090829839924697394514566827387181305960175107677216",
      "45763018441764333771124945243746174684578244015331389396782339063349542289693",
    ],
  },
];

for (const { name, oracle, questionId, conditionId, collateral, ...expected } of worked) {
  test(`worked by hand: ${name}`, () => {
    if (oracle !== null) {
      const condition = { oracle: oracle as Address, questionId: questionId as Hash };
      assert.equal(deriveConditionId({ ...condition, outcomeSlotCount: 2 }), conditionId);
    }
    const id = conditionId as ConditionId;
    if (expected.collectionIds !== null) {
      const collectionIds = [deriveCollectionId(id, 1), deriveCollectionId(id, 2)];
      assert.deepEqual(collectionIds, expected.collectionIds);
    }
    if (expected.tokenIds !== null) {
      assert.deepEqual(decimalTokenIds(id, collateral), expected.tokenIds);
    }
  });
}

function power(base: bigint, exponent: bigint): bigint {
  if (exponent === 0n) return 1n;
  const half = power(base, exponent / 2n);
  const square = (half * half) % fieldPrime;
  return exponent % 2n === 1n ? (square * base) % fieldPrime : square;
}

/** Computes the collection id step by step as the contract does, including the roots. */
function collectionIdByRoots(conditionId: ConditionId, indexSet: number): Hash {
  const seed = BigInt(keccakOfPacked(conditionId, toWord(indexSet)));
  for (let x = (seed + 1n) % fieldPrime; ; x = (x + 1n) % fieldPrime) {
    const square = (x ** 3n + 3n) % fieldPrime;
    let y = power(square, (fieldPrime + 1n) / 4n);
    if ((y * y) % fieldPrime !== square) continue;
    const odd = seed >> 255n;
    if (y % 2n !== odd) y = fieldPrime - y;
    return toWord(y % 2n === 1n ? x ^ (1n << 254n) : x);
  }
}

test("the collection id of any condition equals the one computed with the square root", () => {
  const conditionId = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }).map(toWord);
  fc.assert(
    fc.property(conditionId, fc.integer({ min: 1, max: 255 }), (id, indexSet) => {
      const condition = id as string as ConditionId;
      const derived = deriveCollectionId(condition, indexSet);
      assert.equal(derived, collectionIdByRoots(condition, indexSet));
    }),
    { numRuns: 100 },
  );
});

test("the token id depends on the collateral", () => {
  const collectionId = toWord(7);
  assert.notEqual(
    deriveTokenId(usdce, collectionId),
    deriveTokenId(wrappedCollateral, collectionId),
  );
});

test("the token ids of real markets, from 2020 to 2025", () => {
  const { pairs } = readFixture("real/token-pairs.json.gz") as {
    readonly pairs: readonly (readonly [ConditionId, string])[];
  };
  const others = pairs.filter(
    ([conditionId, tokenId]) =>
      ![usdce, wrappedCollateral].some((collateral) =>
        decimalTokenIds(conditionId, collateral).includes(tokenId),
      ),
  );
  assert.deepEqual([pairs.length, others], [255, []]);
});
