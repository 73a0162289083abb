import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address, Hash } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import type { Header } from "../parse/parse-header.ts";
import type { RawLog } from "../raw-log.ts";
import { areTimesConsistent, assembleBlocks } from "../sync/assemble-blocks.ts";
import { checkLinks, checkLogs } from "./check-logs.ts";
import { deriveLogFilter } from "./log-filter.ts";

const address = `0x${"ab".repeat(20)}` as Address;
const topic = `0x${"cd".repeat(32)}` as Hash;
const filter = deriveLogFilter({ addresses: [address], topics0: [topic] });

function getHash(kind: string, number: number): Hash {
  return `0x${kind}${number.toString(16).padStart(62, "0")}` as Hash;
}

function log(blockNumber: number, logIndex: number, changes: Partial<RawLog> = {}): RawLog {
  const txIndex = changes.txIndex ?? logIndex;
  const txHash = getHash("aa", blockNumber * 1_000 + txIndex);
  const blockHash = getHash("bb", blockNumber);
  const location = { blockNumber, blockHash, logIndex, txIndex, txHash };
  return { address, topics: [topic], data: "0x", ...location, ...changes };
}

function header(number: number, changes: Partial<Header> = {}): Header {
  const hash = getHash("bb", number);
  const parentHash = getHash("bb", number - 1);
  return { number, hash, parentHash, timestamp: number * 2, logsBloom: 0n, ...changes };
}

function byNumber(...headers: readonly Header[]): Map<number, Header> {
  return new Map(headers.map((one) => [one.number, one]));
}

const expected = { from: 10, to: 20, headers: byNumber(header(10), header(20)), filter };

test("R4: logs that are in order, in range, requested and of the right blocks pass", () => {
  checkLogs([], expected);
  checkLogs([log(10, 0), log(10, 5), log(12, 1), log(12, 2, { txIndex: 1 }), log(20, 0)], expected);
});

const flaws: Record<string, readonly RawLog[]> = {
  "below the range": [log(9, 0)],
  "above the range": [log(21, 0)],
  "of an address not asked for": [log(12, 0, { address: `0x${"00".repeat(20)}` as Address })],
  "of a topic not asked for": [log(12, 0, { topics: [getHash("ee", 1)] })],
  "without topics": [log(12, 0, { topics: [] })],
  "sent twice": [log(12, 0), log(12, 0)],
  "of falling index": [log(12, 2, { txIndex: 0 }), log(12, 1, { txIndex: 0 })],
  "of falling block": [log(13, 0), log(12, 1)],
  "with another hash than the header": [log(20, 0, { blockHash: getHash("cc", 20) })],
  "with another hash than its neighbor": [log(12, 0), log(12, 1, { blockHash: getHash("cc", 1) })],
  "of a falling transaction": [log(12, 0, { txIndex: 3 }), log(12, 1, { txIndex: 2 })],
  "of one transaction with two hashes": [
    log(12, 0, { txIndex: 1 }),
    log(12, 1, { txIndex: 1, txHash: getHash("ee", 1) }),
  ],
};
for (const [name, logs] of Object.entries(flaws)) {
  test(`R4: a log ${name} is refused`, () => {
    assert.throws(
      () => checkLogs(logs, expected),
      (thrown) => thrown instanceof EndpointError && thrown.kind === "inconsistent",
    );
  });
}

test("R4: headers of consecutive blocks must be parent and child", () => {
  checkLinks([header(10), header(11), header(20)]);
  const stranger = header(11, { parentHash: getHash("cc", 10) });
  assert.throws(() => checkLinks([header(10), stranger]), EndpointError);
});

test("R4: a header must not be older than that of a lower block", () => {
  checkLinks([header(10), header(20, { timestamp: header(10).timestamp })]);
  const older = header(20, { timestamp: header(10).timestamp - 1 });
  assert.throws(() => checkLinks([older, header(10)]), EndpointError);
});

test("the times of logs are trusted when they agree with their blocks and headers", () => {
  const logs = [log(10, 0), log(12, 0), log(12, 1), log(20, 0)];
  const areConsistent = (timestamps: readonly (number | null)[], some = logs) => {
    const timed = some.map((one, index) => ({ ...one, timestamp: timestamps[index] ?? null }));
    return areTimesConsistent(timed, expected.headers);
  };
  assert(areConsistent([20, 24, 24, 40]));
  assert(!areConsistent([20, 24, null, 40]), "not every log has one");
  assert(!areConsistent([20, 24, 25, 40]), "two times for one block");
  assert(!areConsistent([20, 41, 41, 40]), "after the last header");
  assert(!areConsistent([19, 24, 24, 40]), "before the first header");
  assert(!areConsistent([20, 24, 24, 39]), "not that of its header");
  assert(!areConsistent([30, 29], [log(11, 0), log(12, 0)]), "going back");
});

test("consecutive logs of one block are assembled to a block", () => {
  const logs = [log(10, 0), log(10, 1), log(12, 0)].map((one) => ({ ...one, timestamp: 100 }));
  const blocks = assembleBlocks(logs, byNumber(header(12, { timestamp: 122 })));
  assert.deepEqual(blocks, [
    {
      number: 10,
      hash: getHash("bb", 10),
      parentHash: null,
      timestamp: 100,
      logs: logs.slice(0, 2),
    },
    {
      number: 12,
      hash: getHash("bb", 12),
      parentHash: getHash("bb", 11),
      timestamp: 122,
      logs: logs.slice(2),
    },
  ]);
});
