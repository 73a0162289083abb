import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address, Hash } from "../../base/ids.ts";
import type { Block, RawLog } from "../raw-log.ts";
import { NamedContracts } from "./named-contracts.ts";

const aggregator = `0x${"a0".repeat(20)}` as Address;
const configured = `0x${"c0".repeat(20)}` as Address;
const [first, second] = [`0x${"01".repeat(20)}`, `0x${"02".repeat(20)}`] as [Address, Address];
const topic0 = `0x${"11".repeat(32)}` as Hash;

function open(): NamedContracts {
  const naming = { addresses: new Set([aggregator]), topic0, topicIndex: 2 };
  return new NamedContracts(naming, new Set([configured]));
}

/** A block in which `emitter` names a contract. */
function naming(number: number, address: Address, emitter = aggregator): Block {
  const hash = `0x${"b".repeat(64)}` as Hash;
  const topics = [topic0, hash, `0x${"0".repeat(24)}${address.slice(2)}` as Hash];
  const log: RawLog = {
    address: emitter,
    topics,
    data: "0x",
    blockNumber: number,
    blockHash: hash,
    txHash: hash,
    txIndex: 0,
    logIndex: 0,
  };
  return { number, hash, parentHash: hash, timestamp: number, logs: [log] };
}

test("a contract counts from the first block that names it", () => {
  const named = open();
  const blocks = [naming(5, first), naming(7, first), naming(8, second)];
  const found = named.namedIn(blocks);
  assert.deepEqual(found, [
    { address: first, block: 5 },
    { address: second, block: 8 },
  ]);
  assert(named.replaceFrom(5, found));
  assert(!named.replaceFrom(5, found), "the same blocks again");
  assert(!named.replaceFrom(9, named.namedIn([naming(9, first)])), "named before");
  assert.deepEqual([named.getFirstBlock(first), named.getFirstBlock(second)], [5, 8]);
  assert.deepEqual([...named.addresses], [first, second]);
});

test("configured contracts, and logs of others, name nothing", () => {
  const named = open();
  const blocks = [naming(5, configured), naming(6, first, second)];
  assert.deepEqual(named.namedIn(blocks), []);
  assert(!named.replaceFrom(0, [{ address: configured, block: 3 }]));
  assert.equal(named.getFirstBlock(configured), null);
});

test("after a reorg only the names of the new blocks count", () => {
  const named = open();
  named.replaceFrom(5, [{ address: first, block: 5 }]);
  named.replaceFrom(8, [{ address: second, block: 8 }]);
  assert(named.replaceFrom(8, []));
  assert.deepEqual([named.getFirstBlock(first), named.getFirstBlock(second)], [5, null]);
  assert(named.replaceFrom(5, [{ address: first, block: 6 }]));
  assert.equal(named.getFirstBlock(first), 6);
});
