/** Logs that are not configured events, and logs of configured events that cannot be decoded. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { getAbis } from "../../test/support/event-abis.ts";
import { anyLog, logAt } from "../../test/support/generate-event-logs.ts";
import { propertySettings } from "../../test/support/property-settings.ts";
import { knownContracts } from "../../test/support/recorded-chain.ts";
import type { Address, Hash } from "../base/ids.ts";
import type { RawLog } from "../chain/raw-log.ts";
import type { Contract } from "./contracts.ts";
import { getDecoders, LogDecoder } from "./log-decoder.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const all = [...contracts.byAddress.values()];

const stranger = `0x${"99".repeat(20)}` as Address;
const zero = "0".repeat(64);
const one = `${"0".repeat(63)}1`;
const two = `${"0".repeat(63)}2`;
const ones = "f".repeat(64);

function getContract(kind: Contract["kind"], generation = 1): Contract {
  const found = all.find((contract) =>
    contract.kind === "exchange"
      ? kind === "exchange" && contract.generation === generation
      : contract.kind === kind,
  );
  assert(found !== undefined);
  return found;
}

/** Makes a log of the event `name`, with these words as data. */
function getLog(contract: Contract, name: string, words: readonly string[]): RawLog {
  const found = getDecoders(contract).find(({ signature }) => signature.startsWith(`${name}(`));
  assert(found !== undefined);
  const indexed = Array.from({ length: found.topicCount - 1 }, (_, i) => `0x${`${i}a`.repeat(32)}`);
  const topics = [found.topic0, ...indexed] as Hash[];
  return logAt(contract.address, { topics, data: `0x${words.join("")}` });
}

function getKind(log: RawLog): string | null {
  return decoder.decode(log)?.event.kind ?? null;
}

function assertUndecodable(log: RawLog, reason: RegExp): void {
  const event = decoder.decode(log)?.event;
  assert(event?.kind === "undecodable", `expected undecodable, got ${event?.kind}`);
  assert.match(event.reason, reason);
}

/** A random log of any event of any contract, and whether the event has dynamic fields. */
const anyKnownLog = fc
  .constantFrom(
    ...all.flatMap((contract) => getAbis(contract).map(({ item }) => ({ contract, item }))),
  )
  .chain(({ contract, item }) =>
    anyLog(item, contract.address).map((log) => ({
      log,
      isDynamic: item.inputs.some(({ type }) => type === "bytes" || type.endsWith("[]")),
    })),
  );

describe("unknown logs are ignored", () => {
  test("of an address that is not configured, even if they are valid otherwise", () => {
    fc.assert(
      fc.property(anyKnownLog, ({ log }) => {
        assert.equal(decoder.decode({ ...log, address: stranger }), null);
      }),
      propertySettings(300),
    );
  });

  test("without topics", () => {
    const exchange = getContract("exchange");
    assert.equal(decoder.decode(logAt(exchange.address, { topics: [], data: "0x" })), null);
  });

  test("of an event that is not decoded", () => {
    const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef" as Hash;
    const exchange = getContract("exchange");
    assert.equal(decoder.decode(logAt(exchange.address, { topics: [transfer], data: "0x" })), null);
  });

  test("of an event of another generation or kind of contract", () => {
    const v1Log = getLog(getContract("exchange", 1), "OrderFilled", [zero, one, one, one, zero]);
    const v2Log = getLog(getContract("exchange", 2), "OrderFilled", Array(7).fill(zero));
    for (const contract of all) {
      const generation = contract.kind === "exchange" ? contract.generation : 0;
      const expected = [generation === 1, generation >= 2];
      const found = [v1Log, v2Log].map((log) => getKind({ ...log, address: contract.address }));
      assert.deepEqual(
        found.map((kind) => kind === "order_filled"),
        expected,
      );
    }
  });

  test("of an event of older exchanges that generation 3 does not have", () => {
    const log = getLog(getContract("exchange", 2), "NewAdmin", []);
    assert.equal(getKind(log), "role_changed");
    assert.equal(getKind({ ...log, address: getContract("exchange", 3).address }), null);
  });
});

describe("logs of known contracts without the shape of their event are kept as undecodable", () => {
  const shape = /number of topics or data length/;

  test("with a topic too many or too few", () => {
    fc.assert(
      fc.property(anyKnownLog, ({ log }) => {
        const more = [...log.topics, `0x${zero}` as Hash];
        assertUndecodable({ ...log, topics: more }, shape);
        if (log.topics.length > 1) {
          assertUndecodable({ ...log, topics: log.topics.slice(0, -1) }, shape);
        }
      }),
      propertySettings(300),
    );
  });

  test("with data that is too short, too long, or not whole words", () => {
    fc.assert(
      fc.property(anyKnownLog, fc.integer({ min: 1, max: 40 }), ({ log, isDynamic }, bytes) => {
        assertUndecodable({ ...log, data: "0x", topics: withTopic(log) }, shape);
        const longer = { ...log, data: log.data + "00".repeat(bytes) };
        if (!isDynamic || bytes % 32 !== 0) assertUndecodable(longer, shape);
        if (log.data === "0x") return;
        const shorter = { ...log, data: log.data.slice(0, -bytes * 2) };
        if (!isDynamic || bytes % 32 !== 0) assertUndecodable(shorter, shape);
      }),
      propertySettings(300),
    );
  });

  /** Adds a topic to a log without data, for which "0x" would be complete. */
  function withTopic(log: RawLog): readonly Hash[] {
    return log.data === "0x" ? [...log.topics, `0x${zero}` as Hash] : log.topics;
  }

  test("with a dynamic field that is cut off or points outside the data", () => {
    const operator = getContract("neg_risk_operator");
    const adapter = getContract("uma_adapter");
    const outside = /points outside/;
    const offset64 = `${"0".repeat(62)}40`;
    const length33 = `${"0".repeat(62)}21`;
    const cases: readonly RawLog[] = [
      // The length is 33, but the data has 32 bytes.
      getLog(operator, "QuestionPrepared", [one, offset64, length33, ones]),
      // The offset is beyond the end, not a multiple of 32, or absurdly large.
      getLog(operator, "QuestionPrepared", [one, `${"0".repeat(61)}100`, zero]),
      getLog(operator, "QuestionPrepared", [one, `${"0".repeat(62)}41`, zero]),
      getLog(operator, "QuestionPrepared", [one, ones, zero]),
      // The length is absurdly large.
      getLog(operator, "QuestionPrepared", [one, offset64, ones]),
      getLog(adapter, "AncillaryDataUpdated", [`${"0".repeat(62)}20`, ones, zero]),
      getLog(getContract("conditional_tokens"), "ConditionResolution", [two, offset64, ones, one]),
      getLog(getContract("conditional_tokens"), "ConditionResolution", [two, offset64, two, one]),
    ];
    for (const log of cases) assertUndecodable(log, outside);
  });

  test("decoding never throws, whatever a known contract logs", () => {
    const topics0 = [...decoder.filter.topics0];
    const word = fc.oneof(
      fc.constantFrom(zero, one, two, ones, `${"0".repeat(62)}20`, `${"0".repeat(62)}40`),
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((n) => n.toString(16).padStart(64, "0")),
    );
    const anything = fc.record({
      contract: fc.constantFrom(...all),
      topic0: fc.constantFrom(...topics0),
      topics: fc.array(word, { maxLength: 3 }),
      words: fc.array(word, { maxLength: 9 }),
    });
    fc.assert(
      fc.property(anything, ({ contract, topic0, topics, words }) => {
        const content = [topic0, ...topics.map((topic) => `0x${topic}` as Hash)];
        decoder.decode(logAt(contract.address, { topics: content, data: `0x${words.join("")}` }));
      }),
      propertySettings(3000),
    );
  });
});

describe("logs with values that the rules forbid are kept as undecodable", () => {
  test("generation 1: exactly one asset is collateral", () => {
    const exchange = getContract("exchange", 1);
    const filled = (...assets: readonly string[]): RawLog =>
      getLog(exchange, "OrderFilled", [...assets, one, one, zero]);
    assertUndecodable(filled(zero, zero), /both assets are collateral/);
    assertUndecodable(filled(one, two), /neither asset is collateral/);
    assert.equal(getKind(filled(zero, two)), "order_filled");
    assert.equal(getKind(filled(two, zero)), "order_filled");
  });

  test("generations 2 and 3: the side is 0 or 1, and only its low byte counts", () => {
    for (const generation of [2, 3]) {
      const exchange = getContract("exchange", generation);
      const filled = (side: string): RawLog =>
        getLog(exchange, "OrderFilled", [side, ...Array<string>(6).fill(one)]);
      assertUndecodable(filled(two), /side is neither/);
      assertUndecodable(filled(ones), /side is neither/);
      const dirtySell = decoder.decode(filled(`${"f".repeat(62)}01`))?.event;
      assert(dirtySell?.kind === "order_filled");
      assert.equal(dirtySell.side, "SELL");
    }
  });

  test("addresses are the low 160 bits, whatever the higher bits are", () => {
    const exchange = getContract("exchange", 3);
    const clean = getLog(exchange, "OrderFilled", Array(7).fill(one));
    const dirty = { ...clean, topics: clean.topics.with(2, `0x${"f".repeat(64)}` as Hash) };
    const event = decoder.decode(dirty)?.event;
    assert(event?.kind === "order_filled");
    assert.equal(event.maker, `0x${"f".repeat(40)}`);
  });

  test("conditions have 2 to 256 outcomes", () => {
    const tokens = getContract("conditional_tokens");
    const slots = (count: number): RawLog =>
      getLog(tokens, "ConditionPreparation", [count.toString(16).padStart(64, "0")]);
    assert.deepEqual([2, 3, 256].map(slots).map(getKind), Array(3).fill("condition_prepared"));
    for (const count of [0, 1, 257]) assertUndecodable(slots(count), /outcome slot count/);
  });

  test("a result has one payout per outcome, not all of them zero", () => {
    const tokens = getContract("conditional_tokens");
    const offset = `${"0".repeat(62)}40`;
    const resolution = (...words: readonly string[]): RawLog =>
      getLog(tokens, "ConditionResolution", words);
    assert.equal(getKind(resolution(two, offset, two, one, zero)), "condition_resolved");
    assertUndecodable(resolution(two, offset, two, zero, zero), /payouts/);
    assertUndecodable(resolution(one, offset, two, one, zero), /payouts/);
  });
});

test("the log filter has every address and event that is decoded, each once", () => {
  const { addresses, topics0 } = decoder.filter;
  const speaking = all.filter((contract) => getDecoders(contract).length > 0);
  const decoders = speaking.flatMap((contract) => getDecoders(contract));
  assert.deepEqual(new Set(addresses), new Set(speaking.map((contract) => contract.address)));
  assert.deepEqual(new Set(topics0), new Set(decoders.map((one) => one.topic0)));
  assert.equal(new Set(addresses).size, addresses.length);
  assert.equal(new Set(topics0).size, topics0.length);
});
