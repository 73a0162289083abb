/** Facts of the live chain, from public sources, become the markets that the venue shows. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BlockWriter } from "../../../test/support/generate-matches.ts";
import { listedMarkets } from "../../../test/support/listed-markets.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { noMetadata } from "../../../test/support/no-metadata.ts";
import { readFixture } from "../../../test/support/read-fixture.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import {
  encodeLog,
  knownCreator,
  type LogContent,
  stranger,
  umaText,
} from "../../../test/support/test-markets.ts";
import type { Address, ConditionId, Hash } from "../../base/ids.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { deriveBlockFacts } from "../../market/block-facts.ts";
import { deriveConditionId } from "../../market/ids/condition-ids.ts";
import { deriveGen3ConditionIds } from "../../market/ids/gen3-ids.ts";
import { toKeccak } from "../../market/ids/keccak.ts";
import { MarketDirectory } from "./market-directory.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const reporter = "0x53703dd6129d723066b6362510e5ae2fecd48218";
const reporterModule = "0x000012e0009c84078c4924fba808a41b9f67527f";
const native = `0x01${"ab".repeat(16)}`.padEnd(66, "0") as ConditionId;

const realText = readFixture("real/gen3-text.json.gz") as {
  readonly request_rules_utf8: string;
  readonly expected: { readonly title: string; readonly outcomes: readonly string[] };
};
const realLogs = readFixture("real/gen3-logs.json.gz") as {
  readonly captured: readonly (LogContent & { readonly blockNumber: string })[];
};

function contractAt(address: string) {
  const contract = contracts.byAddress.get(address.toLowerCase() as Address);
  assert(contract !== undefined, address);
  return contract;
}

function getDirectory(...logs: readonly LogContent[]): MarketDirectory {
  const directory = new MarketDirectory(contracts, new MemoryStateStore(), () => {});
  const hash = `0x${"b".repeat(64)}` as Hash;
  // 2026-09-10 00:26:40 UTC
  const place = { number: 94_125_638, hash, parentHash: null, timestamp: 1_789_000_000 };
  const writer = new BlockWriter(place);
  for (const log of logs) writer.addLog(log);
  for (const event of deriveBlockFacts(writer.block, decoder).events) directory.applyEvent(event);
  return directory;
}

function registered(requestId: Hash | ConditionId, text = realText.request_rules_utf8): LogContent {
  return encodeLog(contractAt(reporter), "RequestRegistered", {
    requestId,
    requester: reporterModule,
    priceIdentifier: `0x${Buffer.from("YES_OR_NO_QUERY").toString("hex").padEnd(64, "0")}`,
    requestRules: `0x${Buffer.from(text).toString("hex")}`,
    minimumLiveness: 0n,
    maximumLiveness: 0n,
  });
}

/** `marketType`: 0 is binary, 1 is an event with a text for each question, 2 an event with one text. */
function announcedAs(eventId: Hash | ConditionId, marketType: 0 | 1 | 2): LogContent {
  return encodeLog(contractAt("0x0A0a0A0A8B00C51b7D810501b03F230028C04a87"), "RequestInitialized", {
    eventId: eventId.slice(0, 60),
    targetContract: stranger,
    marketType,
    a: 0n,
    b: 0n,
    c: 0,
    d: stranger,
    e: 0,
    f: stranger,
  });
}

function toText(directory: MarketDirectory, conditionId: ConditionId) {
  const market = directory.market(conditionId);
  assert(market !== null);
  const outcomes = market.tokens.map(({ outcome }) => outcome);
  return [market.question, outcomes, market.metadataSource];
}

describe("a native market of Protocol V2", () => {
  const announced = announcedAs(native, 0);
  const { title, outcomes } = realText.expected;

  test("has the title, outcomes and description that the reporter logged, in any order of logs", () => {
    for (const logs of [
      [registered(native), announced],
      [announced, registered(native)],
    ]) {
      const directory = getDirectory(...logs);
      assert.deepEqual(toText(directory, native), [title, outcomes, "chain"]);
      const { description } = JSON.parse(realText.request_rules_utf8) as Record<string, string>;
      assert.equal(directory.market(native)?.description, description);
    }
  });

  test("an unreadable text leaves the market without a title", () => {
    for (const text of ["{", "\u0000", "[".repeat(100_000), "x".repeat(1_000_000)]) {
      const directory = getDirectory(registered(native, text), announced);
      assert.deepEqual(toText(directory, native), [null, [null, null], "none"]);
    }
  });

  test("the text of an event is not that of its first condition", () => {
    const eventId = `0x02${"cd".repeat(16)}0003`.padEnd(66, "0") as ConditionId;
    const log = registered(eventId);
    const numerical = `0x${Buffer.from("NUMERICAL").toString("hex").padEnd(64, "0")}` as Hash;
    const resolved = encodeLog(
      contractAt("0x200000900045e3B6259600682756002200028933"),
      "ConditionResolved",
      { conditionId: eventId.slice(0, 64), result: [1_000_000n, 0n] },
    );
    const atomic = { ...log, topics: [...log.topics.slice(0, 3), numerical] };
    const updated = encodeLog(contractAt(reporter), "RequestRulesUpdated", {
      requestId: eventId,
      timestamp: 1n,
      updater: reporterModule,
      updatedRules: `0x${Buffer.from("Extended").toString("hex")}`,
    });
    for (const logs of [
      [atomic, resolved],
      [resolved, atomic],
    ]) {
      const directory = getDirectory(...logs, updated);
      const market = directory.market(eventId);
      assert.equal(market?.eventTitle, title);
      assert(market?.description?.endsWith("\n\nUpdate: Extended"));
      assert.deepEqual(toText(directory, eventId), [`${title} (answer 0)`, ["Yes", "No"], "chain"]);
    }
    assert.equal(getDirectory(log, resolved).market(eventId)?.question, title);
  });

  test("the conditions of an event with one text have its title, and Yes and No", () => {
    const eventId = `0x02${"ce".repeat(16)}0003`.padEnd(66, "0") as ConditionId;
    const ids = deriveGen3ConditionIds(eventId as string as Hash);
    const [log, atomic] = [registered(eventId), announcedAs(eventId, 2)];
    for (const logs of [
      [log, atomic],
      [atomic, log],
    ]) {
      const directory = getDirectory(...logs);
      assert.deepEqual(
        ids.map((id) => toText(directory, id)),
        ["answer 0", "answer 1", "answer 2", "Other"].map((answer) => [
          `${title} (${answer})`,
          ["Yes", "No"],
          "chain",
        ]),
      );
    }
    const outside = `${eventId.slice(0, 60)}000400` as ConditionId;
    const resolved = encodeLog(
      contractAt("0x200000900045e3B6259600682756002200028933"),
      "ConditionResolved",
      { conditionId: outside.slice(0, 64), result: [1_000_000n, 0n] },
    );
    const directory = getDirectory(log, atomic, resolved);
    assert.deepEqual(toText(directory, outside), [null, [null, null], "none"]);
    const unnamed = getDirectory(atomic);
    for (const id of ids) assert.deepEqual(toText(unnamed, id), [null, ["Yes", "No"], "none"]);
  });

  test("of an event with a text for each question, only Other has the labels without a text", () => {
    const eventId = `0x02${"cf".repeat(16)}0001`.padEnd(66, "0") as ConditionId;
    const [first, other] = deriveGen3ConditionIds(eventId as string as Hash);
    assert(first !== undefined && other !== undefined);
    const incremental = announcedAs(eventId, 1);
    const bare = getDirectory(incremental);
    assert.deepEqual(toText(bare, first), [null, [null, null], "none"]);
    const directory = getDirectory(incremental, registered(first));
    assert.deepEqual(toText(directory, first), [title, outcomes, "chain"]);
    assert.deepEqual(toText(directory, other), [null, ["Yes", "No"], "none"]);
  });

  test("a condition of another resolution chain is another market", () => {
    const elsewhere = `${native.slice(0, 56)}0001${native.slice(60)}` as ConditionId;
    const resolved = encodeLog(
      contractAt("0x1000008dD9001B968442c1000017eaE6E0dA00Ba"),
      "ConditionResolved",
      { conditionId: elsewhere.slice(0, 64), result: [0n, 1_000_000n] },
    );
    const directory = getDirectory(registered(native), announced, resolved);
    assert.deepEqual(new Set(listedMarkets(directory)), new Set([native, elsewhere]));
    assert.deepEqual(toText(directory, elsewhere), [null, [null, null], "none"]);
    assert.equal(directory.market(native)?.resolution, null);
    assert.equal(directory.market(elsewhere)?.tokens[0]?.tokenId, elsewhere);
  });
});

test("the captured result of a migrated market is one half each", () => {
  const conditionId = "0x01855e8d70c70344a860f9c98fde2fb9a6000000000000000000000000000000";
  const market = getDirectory(...realLogs.captured).market(conditionId as ConditionId);
  assert.deepEqual(market?.resolution?.numerators, [500_000n, 500_000n]);
});

describe("a question about a price window", () => {
  const chainlink = contractAt("0xc12EC12E0000326890Ca5560dEf5EB5C22b16814");
  const aggregator = contractAt("0x0A0a0A0A8B00C51b7D810501b03F230028C04a87");
  const start = 1_788_999_300;
  const eventId = native.slice(0, 60);
  const added = encodeLog(aggregator, "ReporterModuleAdded", {
    eventId,
    module: chainlink.address,
  });
  const reported = (pairId: string, window: { seconds: number; start: number }): LogContent => {
    const words = [window.seconds, window.start].map((n) => n.toString(16).padStart(64, "0"));
    const bytes = Buffer.from("CHAINLINK_CANDLE").toString("hex").padEnd(64, "0") + pairId;
    return encodeLog(chainlink, "RequestReported", {
      requestId: eventId,
      questionId: toKeccak(Buffer.from(bytes + words.join(""), "hex")),
      startPrice: 1n,
      endPrice: 2n,
      payout: 1_000_000n,
    });
  };
  const textId = (pair: string) => Buffer.from(pair).toString("hex").padEnd(64, "0");
  const hashId = (pair: string) => toKeccak(Buffer.from(pair)).slice(2);

  test("has its labels when it is announced, and its title when its result is reported", () => {
    assert.deepEqual(toText(getDirectory(added), native), [null, ["Up", "Down"], "none"]);
    const pairs = ["BTC/USD", "BTC_USD", "BTC-USD"];
    for (const pairId of pairs.flatMap((pair) => [textId(pair), hashId(pair)])) {
      for (const logs of [
        [added, reported(pairId, { seconds: 300, start })],
        [reported(pairId, { seconds: 300, start })],
      ]) {
        assert.deepEqual(toText(getDirectory(...logs), native), [
          "BTC/USD up or down, 5 minutes, 2026-09-10 00:15 UTC",
          ["Up", "Down"],
          "chain",
        ]);
      }
    }
  });

  test("other lengths, and other pairs that the chain names", () => {
    const toTitle = (...logs: LogContent[]) => toText(getDirectory(added, ...logs), native)[0];
    assert.equal(
      toTitle(reported(hashId("ETH/USD"), { seconds: 3600, start: start - 3600 - 900 })),
      "ETH/USD up or down, 1 hour, 2026-09-09 23:00 UTC",
    );
    for (const pair of ["EUR/USD", "EUR_USD"]) {
      const other = reported(textId(pair), { seconds: 900, start: start - 900 });
      assert.equal(toTitle(other), null);
      const feed = { assetPair: `0x${textId(pair)}`, feedId: `0x${"1".repeat(64)}` };
      assert.equal(
        toTitle(encodeLog(chainlink, "FeedIdUpdated", feed), other),
        "EUR/USD up or down, 15 minutes, 2026-09-10 00:00 UTC",
      );
    }
  });

  test("is replaced by the venue's text", () => {
    const directory = getDirectory(added, reported(textId("BTC/USD"), { seconds: 300, start }));
    const question = "Bitcoin Up or Down - September 10, 12:15AM-12:20AM ET";
    directory.applyMetadata(native, {
      ...noMetadata,
      slug: "btc-updown",
      question,
      outcomes: ["Higher", "Lower"],
    });
    assert.deepEqual(toText(directory, native), [question, ["Higher", "Lower"], "venue"]);
  });
});

test("contracts that are not configured are reported once, with the log that names them", () => {
  const aggregator = contractAt("0x0A0a0A0A8B00C51b7D810501b03F230028C04a87");
  const manager = contractAt("0x006F54F7f9A22e0000CC2AB60031000000ae9fEF");
  const exchange = contractAt("0xe3333700cA9d93003F00f0F71f8515005F6c00Aa");
  const eventId = native.slice(0, 60);
  const [reporter, module, implementation] = ["a1", "a2", "a3"].map(
    (digits) => `0x${digits.repeat(20)}`,
  );
  const directory = getDirectory(
    encodeLog(aggregator, "ReporterModuleAdded", { eventId, module: reporterModule }),
    encodeLog(aggregator, "ReporterModuleAdded", { eventId, module: reporter }),
    encodeLog(aggregator, "ReporterModuleAdded", { eventId, module: reporter }),
    encodeLog(manager, "ModuleAdded", { moduleId: 4n, module: module }),
    encodeLog(exchange, "Upgraded", {
      implementation: "0x641b40ec414a076b9e79E703Fc7BF4EBEC248Bb7",
    }),
    encodeLog(exchange, "Upgraded", { implementation }),
  );
  assert.deepEqual(directory.unknownContracts.all, [
    { address: reporter, role: "reporter", namedBy: aggregator.address, block: 94_125_638 },
    { address: module, role: "module", namedBy: manager.address, block: 94_125_638 },
    {
      address: implementation,
      role: "implementation",
      namedBy: exchange.address,
      block: 94_125_638,
    },
  ]);
});

describe("UMA adapters", () => {
  const text = umaText({ title: "Asked once", creator: knownCreator });
  const questionId = toKeccak(Buffer.from(text));
  const requested = (adapter: string): LogContent[] => {
    const oracle = adapter.toLowerCase() as Address;
    const initialized = encodeLog(
      contractAt("0x71392E133063CC0D16F40E1F9B60227404Bc03f7"),
      "QuestionInitialized",
      {
        questionID: questionId,
        requestTimestamp: 1n,
        creator: knownCreator,
        ancillaryData: `0x${Buffer.from(text).toString("hex")}`,
        rewardToken: stranger,
        reward: 0n,
        proposalBond: 0n,
      },
    );
    const conditionId = deriveConditionId({ oracle, questionId, outcomeSlotCount: 2 });
    const prepared = encodeLog(
      contractAt("0x4D97DCd97eC945f40cF65F87097ACe5EA0476045"),
      "ConditionPreparation",
      { conditionId, oracle, questionId, outcomeSlotCount: 2n },
    );
    return [prepared, { ...initialized, address: oracle }];
  };
  const getCondition = (adapter: string) =>
    deriveConditionId({
      oracle: adapter.toLowerCase() as Address,
      questionId,
      outcomeSlotCount: 2,
    });

  test("the texts of version 3.0.0 count", () => {
    const adapter = "0x71392E133063CC0D16F40E1F9B60227404Bc03f7";
    const directory = getDirectory(...requested(adapter));
    assert.deepEqual(toText(directory, getCondition(adapter)), [
      "Asked once",
      ["Yes", "No"],
      "chain",
    ]);
    assert.deepEqual(listedMarkets(directory), [getCondition(adapter)]);
  });

  test("those of copies by others do not", () => {
    const copy = `0x${"87".repeat(20)}`;
    const directory = getDirectory(...requested(copy));
    assert.deepEqual(toText(directory, getCondition(copy)), [null, [null, null], "none"]);
    assert.deepEqual(listedMarkets(directory), []);
  });
});
