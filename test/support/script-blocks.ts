/** Converts generated blocks for a scripted node. */
import type { Block } from "../../src/chain/raw-log.ts";
import { getBloom } from "./build-blocks.ts";
import { type ScriptedBlock, toQuantity } from "./scripted-block.ts";

const zeroHash = `0x${"0".repeat(64)}`;

/** Returns linked blocks with all their logs, in order. */
export function scriptBlocks(blocks: readonly Block[]): ScriptedBlock[] {
  return blocks.map(scriptBlock);
}

function scriptBlock({ number, hash, parentHash, timestamp, logs }: Block): ScriptedBlock {
  const transactions: string[] = [];
  for (const { txHash, txIndex } of logs) transactions[txIndex] = txHash;
  const header = {
    number: toQuantity(number),
    hash,
    parentHash: parentHash ?? zeroHash,
    timestamp: toQuantity(timestamp),
    logsBloom: getBloom(logs),
    transactions,
  };
  const scripted = logs.map((log) => ({
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockHash: log.blockHash,
    blockNumber: toQuantity(log.blockNumber),
    transactionHash: log.txHash,
    transactionIndex: toQuantity(log.txIndex),
    logIndex: toQuantity(log.logIndex),
    removed: false,
  }));
  return { number, hash, parentHash: header.parentHash, timestamp, header, logs: scripted };
}
