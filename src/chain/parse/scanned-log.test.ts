import assert from "node:assert/strict";
import { test } from "node:test";
import { parseBody } from "./parse-body.ts";
import { ParsedLogs } from "./parse-log.ts";
import { getTopic0, plainLog, toText } from "./scanned-log.ts";

const hash = (digit: string): string => `0x${digit.repeat(64)}`;
const log = {
  address: `0x${"a".repeat(40)}`,
  topics: [hash("1"), hash("2")],
  data: `0x${"3".repeat(128)}`,
  blockNumber: "0x7",
  transactionHash: hash("4"),
  transactionIndex: "0x0",
  blockHash: hash("5"),
  logIndex: "0x1",
  removed: false,
};

test("a scanned log reads its fields from the received bytes; data and topics throw once these are released", () => {
  let releases = 0;
  const bytes = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result: [log] }));
  const value = parseBody({ bytes, release: () => (releases += 1) }, 0);
  const { result } = value as { readonly result: unknown };
  assert(result instanceof ParsedLogs);
  const [scanned] = result.logs;
  assert(scanned !== undefined);
  const { address, topics, data, blockHash } = log;
  const place = { blockNumber: 7, blockHash, txHash: hash("4"), txIndex: 0, logIndex: 1 };
  const plain = { address, topics, data, ...place };
  assert.deepEqual(plainLog(scanned), plain);
  assert.equal(releases, 0);

  result.release();
  assert.equal(releases, 1);
  assert.throws(() => scanned.data, /released/);
  assert.throws(() => scanned.topics, /released/);
  assert.throws(() => toText(scanned).source.view.getUint8(toText(scanned).dataAt), RangeError);
  assert.equal(getTopic0(scanned), hash("1"));
  assert.equal(scanned.blockHash, blockHash);
});
