/** Compares the hand-written decoders with viem: every event, on random and on recorded logs. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { toEventSelector, toEventSignature } from "viem";
import { decodeWithViem, getAbis } from "../../../test/support/event-abis.ts";
import { anyLog } from "../../../test/support/generate-event-logs.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import {
  knownContracts,
  readRealLogs,
  readRecordedBlocks,
  recordingNames,
} from "../../../test/support/recorded-chain.ts";
import type { RawLog } from "../../chain/raw-log.ts";
import type { Contract } from "../contracts.ts";
import type { ChainEvent } from "../events.ts";
import { getDecoders, LogDecoder } from "../log-decoder.ts";
import { polygonContracts } from "../polygon-contracts.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
/** One contract of each kind and generation. */
const kinds: ReadonlyMap<string, Contract> = new Map(
  [...contracts.byAddress.values()].map((contract) => [getName(contract), contract]),
);

function getName(contract: Contract): string {
  return contract.kind === "exchange"
    ? `exchange of generation ${contract.generation}`
    : contract.kind;
}

/** Asserts that viem decodes a log to the same event. Returns the kind of the event. */
function assertEqualsViem(log: RawLog): ChainEvent["kind"] | null {
  const contract = contracts.byAddress.get(log.address);
  const expected = contract === undefined ? null : decodeWithViem(log, contract);
  const decoded = decoder.decode(log);
  if (expected === null || expected.kind === "undecodable") {
    assert.equal(decoded?.event.kind, expected?.kind);
  } else {
    assert.deepEqual(decoded, { log, contract, event: expected });
  }
  return decoded?.event.kind ?? null;
}

test("the known contracts are of every kind and generation", () => {
  assert.equal(kinds.size, 24);
});

for (const [name, contract] of kinds) {
  describe(name, () => {
    test("has a decoder for each event that it declares, and for no other", () => {
      const declared = getAbis(contract).map((abi) => toEventSignature(abi.item));
      const decoded = getDecoders(contract).map((decoder) => decoder.signature);
      assert.deepEqual(decoded.toSorted(), declared.toSorted());
    });

    test("topic0 and the number of topics follow from the declaration", () => {
      for (const { signature, topic0, topicCount } of getDecoders(contract)) {
        assert.equal(topic0, toEventSelector(signature), signature);
        const abi = getAbis(contract).find(({ item }) => toEventSignature(item) === signature);
        const indexed = abi?.item.inputs.filter((input) => input.indexed === true) ?? [];
        assert.equal(topicCount, indexed.length + 1, signature);
      }
    });

    for (const { item } of getAbis(contract)) {
      test(`random ${item.name} logs decode as viem decodes them`, () => {
        fc.assert(
          fc.property(anyLog(item, contract.address), (log) => void assertEqualsViem(log)),
          propertySettings(300),
        );
      });
    }
  });
}

test("random logs include both valid and forbidden values", () => {
  const exchange = kinds.get("exchange of generation 2");
  const item = exchange && getAbis(exchange).find((abi) => abi.item.name === "OrderFilled")?.item;
  assert(exchange !== undefined && item !== undefined);
  const sample = fc.sample(anyLog(item, exchange.address), propertySettings(200));
  const found = new Set(sample.map((log) => decoder.decode(log)?.event.kind));
  assert.deepEqual(found, new Set(["order_filled", "undecodable"]));
});

describe("recorded logs decode as viem decodes them", () => {
  const counts = {
    "contracts-a": { order_filled: 1263, orders_matched: 467 },
    "contracts-gen2": { order_filled: 3149, orders_matched: 1038 },
    "contracts-gen3": { order_filled: 588, orders_matched: 195 },
  } as const;
  for (const name of recordingNames) {
    test(name, () => {
      const logs = readRecordedBlocks(name).flatMap((block) => block.logs);
      const found = Map.groupBy(logs.map(assertEqualsViem), (kind) => kind);
      assert.equal(found.get("order_filled")?.length, counts[name].order_filled);
      assert.equal(found.get("orders_matched")?.length, counts[name].orders_matched);
      assert.equal(found.get("undecodable"), undefined);
    });
  }

  test("logs of the live chain", () => {
    const { trades, deployment, protocolV2 } = readRealLogs();
    const found = Map.groupBy(trades.map(assertEqualsViem), (kind) => kind);
    assert.equal(found.get("order_filled")?.length, 22);
    assert.equal(found.get("undecodable"), undefined);
    assert.deepEqual(deployment.map(assertEqualsViem), Array(4).fill("role_changed"));
    assert.equal(deployment[0]?.blockNumber, polygonContracts.contracts[0]?.start_block);
    assert.equal(protocolV2.map(assertEqualsViem)[0], "condition_resolved");
  });
});
