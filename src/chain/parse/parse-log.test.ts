import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import type { Address, Hash } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import { deriveLogFilter } from "../verify/log-filter.ts";
import { isRequested, logsInReceipts, parseAllLogs, parseLogs } from "./parse-log.ts";

const address = `0x${"ab".repeat(20)}` as Address;
const topic = `0x${"cd".repeat(32)}` as Hash;
const filter = deriveLogFilter({ addresses: [address], topics0: [topic] });

const good = {
  address,
  topics: [topic, `0x${"01".repeat(32)}`],
  data: "0x00ff",
  blockNumber: "0x10",
  blockHash: `0x${"0b".repeat(32)}`,
  transactionHash: `0x${"0c".repeat(32)}`,
  transactionIndex: "0x2",
  logIndex: "0x3",
  removed: false,
};

function isMalformed(thrown: unknown): boolean {
  return thrown instanceof EndpointError && thrown.kind === "malformed";
}

test("a log is parsed, and its hex digits become lower case", () => {
  const shouted = { ...good, address: `0x${"AB".repeat(20)}`, topics: [`0x${"CD".repeat(32)}`] };
  const { logs } = parseLogs([good, shouted]);
  assert.deepEqual(logs[0], {
    address,
    topics: good.topics,
    data: "0x00ff",
    blockNumber: 16,
    blockHash: good.blockHash,
    timestamp: null,
    txHash: good.transactionHash,
    txIndex: 2,
    logIndex: 3,
  });
  assert.equal(logs[1]?.address, address);
  assert.deepEqual(logs[1]?.topics, [topic]);
  assert(logs.every((log) => isRequested(log, filter)));
});

test("a log has the time of its block if the node sends it", () => {
  const timed = { ...good, blockTimestamp: "0x64" };
  const { logs } = parseLogs([timed, good]);
  assert.deepEqual(
    logs.map(({ timestamp }) => timestamp),
    [100, null],
  );
});

test("a log with an invalid field is refused", () => {
  const wrong: Record<string, readonly unknown[]> = {
    address: [undefined, null, "0x", topic, 5, {}],
    topics: [undefined, null, topic, [5], Array.from({ length: 5 }, () => topic), ["0x12"]],
    data: [undefined, null, "00", "0x0", "0xzz", 5],
    blockNumber: [undefined, null, 16, "16", "0x", "0x20000000000000"],
    blockHash: [undefined, null, "0x12", 5],
    transactionHash: [undefined, null, "0x12", 5],
    transactionIndex: [undefined, null, 1, "0xg"],
    logIndex: [undefined, null, 1, "0xf4240"],
    removed: [true],
  };
  for (const [field, values] of Object.entries(wrong)) {
    for (const value of values) {
      const parse = () => parseLogs([{ ...good, [field]: value }]);
      assert.throws(parse, isMalformed, `${field} ${JSON.stringify(value)}`);
    }
  }
});

test("R14: any input yields logs or a malformed error", () => {
  const anything = fc.oneof(fc.anything(), fc.array(fc.record(mutations(), { requiredKeys: [] })));
  fc.assert(
    fc.property(anything, (value) => {
      const parseReceipts = () => parseAllLogs(logsInReceipts(value), filter);
      for (const parse of [parseLogs, parseReceipts]) {
        try {
          parse(value);
        } catch (thrown) {
          assert(isMalformed(thrown), String(thrown));
        }
      }
    }),
    propertySettings(300),
  );
});

/** Logs like `good`, in which any field can have any value. */
function mutations(): Record<string, fc.Arbitrary<unknown>> {
  const fields = Object.entries(good).map(([field, value]) => {
    return [field, fc.oneof(fc.constant(value), fc.anything())] as const;
  });
  return Object.fromEntries(fields);
}
