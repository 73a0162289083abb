/** The recorded chains as `chain/` emits them: blocks of raw logs, without a node. */
import type { Address, Hash } from "../../src/base/ids.ts";
import type { Block, RawLog } from "../../src/chain/raw-log.ts";
import { type Contracts, parseContracts } from "../../src/contracts/contracts.ts";
import { polygonContracts } from "../../src/contracts/polygon-contracts.ts";
import { readFixture } from "./read-fixture.ts";
import type { RpcLog, ScriptedBlock } from "./scripted-block.ts";

export const recordingNames = ["contracts-a", "contracts-gen2", "contracts-gen3"] as const;
export type RecordingName = (typeof recordingNames)[number];

/** The contracts on Polygon, on a chain that starts at block 0 like the recordings. */
export function knownContracts(): Contracts {
  const entries = polygonContracts.contracts.map((entry) => ({ ...entry, start_block: 0 }));
  const contracts = parseContracts({ ...polygonContracts, contracts: entries });
  if ("mistakes" in contracts) throw new Error(contracts.mistakes.join("; "));
  return contracts;
}

/** The blocks of a recording in order, empty ones included. */
export function readRecordedBlocks(name: RecordingName | "wallets"): Block[] {
  const blocks = readFixture(`${name}/chain.json.gz`) as readonly ScriptedBlock[];
  return blocks.map(toBlock);
}

export function toBlock(block: ScriptedBlock): Block {
  return {
    number: block.number,
    hash: block.hash as Hash,
    parentHash: block.parentHash as Hash,
    timestamp: block.timestamp,
    logs: block.logs.map(toRawLog),
  };
}

/** Single logs of Polygon, from public sources: of generations 1 and 2, of the first exchange's first blocks, of Protocol V2. */
export function readRealLogs(): { trades: RawLog[]; deployment: RawLog[]; protocolV2: RawLog[] } {
  const trades = readFixture("chain-real/raw_logs.json.gz") as readonly RpcLog[];
  const deployment = readFixture("real/gen1-deployment-logs.json.gz") as { logs: RpcLog[] };
  const protocolV2 = readFixture("real/gen3-logs.json.gz") as { captured: RpcLog[] };
  return {
    trades: trades.map(toRawLog),
    deployment: deployment.logs.map(toRawLog),
    protocolV2: protocolV2.captured.map(toRawLog),
  };
}

function toRawLog(log: RpcLog): RawLog {
  return {
    address: log.address as Address,
    topics: log.topics as readonly Hash[],
    data: log.data,
    blockNumber: Number(log.blockNumber),
    blockHash: log.blockHash as Hash,
    txHash: log.transactionHash as Hash,
    txIndex: Number(log.transactionIndex),
    logIndex: Number(log.logIndex),
  };
}
