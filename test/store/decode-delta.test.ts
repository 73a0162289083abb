/** The delta decoded from the rows of final blocks equals the delta derived from their facts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts } from "../../src/market/block-facts.ts";
import { type Delta, toFinalDelta } from "../../src/market/delta.ts";
import { decodeDelta } from "../../src/storage/codec/decode-delta.ts";
import { anyChain } from "../support/generate-chain.ts";
import { propertySettings } from "../support/property-settings.ts";
import { knownContracts, readRecordedBlocks, recordingNames } from "../support/recorded-chain.ts";
import { encode, getFacts, joinedDelta } from "../support/store-chain.ts";

const decoder = new LogDecoder(knownContracts());

function decoded(facts: readonly BlockFacts[]): Delta {
  const batch = encode(facts);
  return decodeDelta(batch, batch.rows);
}

test("decoding the delta of generated blocks", () => {
  const chains = anyChain({ blocksMin: 1, blocksMax: 12 }).map(getFacts);
  const holds = fc.property(chains, (facts) => {
    assert.deepEqual(decoded(facts), joinedDelta(facts));
  });
  fc.assert(holds, propertySettings(100));
});

for (const name of recordingNames) {
  test(`decoding the delta of the recorded blocks of ${name}`, () => {
    const facts = readRecordedBlocks(name).map((block) => deriveBlockFacts(block, decoder));
    assert.deepEqual(decoded(facts), joinedDelta(facts));
  });
}

test("decoding the delta of amounts of any size and of trades without a price", () => {
  const amounts = [
    0n,
    1n,
    -1n,
    2n ** 31n,
    2n ** 63n - 1n,
    2n ** 63n,
    -(2n ** 63n) - 1n,
    10n ** 30n,
  ];
  const blocks = readRecordedBlocks("contracts-gen2").map((one) => deriveBlockFacts(one, decoder));
  const block = blocks.find(({ fills }) => fills.length > 0);
  const fill = block?.fills.find(({ role }) => role !== "taker");
  assert(block !== undefined && fill !== undefined);
  for (const value of amounts) {
    for (const size of [0n, 1n, 10n ** 30n]) {
      const facts: BlockFacts = { ...block, fills: [{ ...fill, size, value }] };
      assert.deepEqual(decoded([facts]), toFinalDelta(facts));
    }
  }
});
