import type { Header } from "../parse/parse-header.ts";
import type { Block, RawLog } from "../raw-log.ts";

/** Whether the times of logs never decrease, lie between those of the headers, and equal the time of a known header. */
export function areTimesConsistent(
  logs: readonly RawLog[],
  timestamps: readonly number[],
  headers: ReadonlyMap<number, Header>,
): boolean {
  const times = [...headers.values()].map((header) => header.timestamp);
  const latest = Math.max(...times);
  let least = Math.min(...times);
  let blockNumber = -1;
  let index = 0;
  for (const log of logs) {
    const timestamp = timestamps[index] ?? -1;
    index += 1;
    if (timestamp < least || timestamp > latest) return false;
    if (log.blockNumber === blockNumber && timestamp !== least) return false;
    const header = headers.get(log.blockNumber);
    if (header !== undefined && header.timestamp !== timestamp) return false;
    blockNumber = log.blockNumber;
    least = timestamp;
  }
  return true;
}

/** Groups ordered logs into blocks. `timestampOf` receives the index of a block's first log and the block number. */
export function assembleBlocks(
  logs: readonly RawLog[],
  headers: ReadonlyMap<number, Header>,
  timestampOf: (logIndex: number, blockNumber: number) => number,
): Block[] {
  const blocks: Block[] = [];
  for (let start = 0; start < logs.length; ) {
    const first = logs[start];
    if (first === undefined) break;
    let end = start + 1;
    while (logs[end]?.blockNumber === first.blockNumber) end += 1;
    blocks.push({
      number: first.blockNumber,
      hash: first.blockHash,
      parentHash: headers.get(first.blockNumber)?.parentHash ?? null,
      timestamp: timestampOf(start, first.blockNumber),
      logs: logs.slice(start, end),
    });
    start = end;
  }
  return blocks;
}
