import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { readFixture } from "../../../test/support/read-fixture.ts";
import { readRecordedBlocks } from "../../../test/support/recorded-chain.ts";
import type { ScriptedBlock } from "../../../test/support/scripted-block.ts";
import type { Address, Hash } from "../../base/ids.ts";
import { parseBloom } from "../parse/parse-hex.ts";
import { containsLogs, countBits, deriveBloomBits, isExplainedBy, mayContain } from "./bloom.ts";
import { deriveLogFilter, showsMore } from "./log-filter.ts";

/** A worked example from the public documentation of Ethereum. */
const sample = { item: "0x0f572e5295c57f15886f9b263e2f6d2d6c7b5ec6", bits: [1323, 431, 1319] };

function bloomWith(items: readonly string[]): bigint {
  return items.reduce((bloom, item) => bloom | deriveBloomBits(item as Address), 0n);
}

test("an item sets the three bits that the protocol specifies", () => {
  const bits = sample.bits.reduce((all, bit) => all | (1n << BigInt(bit)), 0n);
  assert.equal(deriveBloomBits(sample.item as Address), bits);
});

test("the set bits of a bloom are counted", () => {
  assert.equal(countBits(0n), 0);
  assert.equal(countBits(bloomWith([sample.item])), 3);
  assert.equal(countBits((1n << 2048n) - 1n), 2048);
});

test("the items of a bloom are always found in it, and account for all its bits", () => {
  const word = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const items = fc.array(word, { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(items, (words) => {
      const topics = words.map((bytes) => `0x${Buffer.from(bytes).toString("hex")}` as Hash);
      const address = topics[0]?.slice(0, 42) as Address;
      const bloom = bloomWith([address, ...topics]);
      for (const topic of topics) assert(mayContain(bloom, deriveBloomBits(topic)));
      assert(isExplainedBy(bloom, [{ address, topics }]));
      assert(containsLogs(bloom, [{ address, topics: topics.slice(1) }]));
      assert(isExplainedBy(bloomWith([]), [{ address, topics }]), "more logs than bits are legal");
    }),
    propertySettings(100),
  );
});

test("the blooms of a recorded chain match its logs", () => {
  const headers = readFixture("contracts-a/chain.json.gz") as readonly ScriptedBlock[];
  for (const [index, { logs }] of readRecordedBlocks("contracts-a").entries()) {
    const bloom = parseBloom(headers[index]?.header["logsBloom"]);
    assert(bloom !== null);
    assert(isExplainedBy(bloom, logs));
    for (const log of logs) assert(mayContain(bloom, deriveBloomBits(log.address)));
  }
});

test("a bit that no log sets is detected", () => {
  const address = `0x${"aa".repeat(20)}` as Address;
  const [one, two] = [`0x${"11".repeat(32)}` as Hash, `0x${"22".repeat(32)}` as Hash];
  const bloom = bloomWith([address, one, two]);
  assert(!isExplainedBy(bloom, [{ address, topics: [one] }]));
  assert(!isExplainedBy(bloom, []));
  assert(isExplainedBy(bloom, [{ address, topics: [one, two] }]));
  assert(containsLogs(bloom, []));
  assert(!containsLogs(bloom, [{ address, topics: [one, `0x${"33".repeat(32)}` as Hash] }]));
});

test("a block may have requested logs if its bloom has a requested address and topic", () => {
  const address = `0x${"aa".repeat(20)}` as Address;
  const topic = `0x${"11".repeat(32)}` as Hash;
  const filter = deriveLogFilter({ addresses: [address], topics0: [topic] });
  assert(showsMore(bloomWith([address, topic]), [], filter));
  assert(!showsMore(bloomWith([address]), [], filter));
  assert(!showsMore(bloomWith([topic]), [], filter));
  assert(!showsMore(bloomWith([]), [], filter));
});

describe("a bloom shows that logs are missing", () => {
  const [ours, alsoOurs] = [`0x${"aa".repeat(20)}`, `0x${"bb".repeat(20)}`] as [Address, Address];
  const [one, two] = [`0x${"11".repeat(32)}`, `0x${"22".repeat(32)}`] as [Hash, Hash];
  const filter = deriveLogFilter({ addresses: [ours, alsoOurs], topics0: [one, two] });
  const getLog = (address: Address, topic: Hash) => ({ address, topics: [topic] }) as const;

  test("when no log was received, or none of a contract or of an event in it", () => {
    const reported = [getLog(ours, one)];
    assert(showsMore(bloomWith([ours, one]), [], filter));
    assert(showsMore(bloomWith([ours, one, alsoOurs]), reported, filter));
    assert(showsMore(bloomWith([ours, one, two]), reported, filter));
    assert(!showsMore(bloomWith([ours, one]), reported, filter));
    assert(!showsMore(bloomWith([ours]), [], filter));
  });

  test("except when nearly all its bits are set and a log was received", () => {
    const full = (1n << 2048n) - 1n;
    assert(showsMore(full, [], filter));
    assert(!showsMore(full, [getLog(ours, one)], filter));
  });
});
