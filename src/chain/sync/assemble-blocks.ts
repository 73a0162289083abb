import { assert } from "../../base/assert.ts";
import type { Header } from "../parse/parse-header.ts";
import type { Block, RawLog } from "../raw-log.ts";

/** Whether the times of logs never decrease, lie between those of the headers, and equal the time of a known header. */
export function areTimesConsistent(
  logs: readonly RawLog[],
  headers: ReadonlyMap<number, Header>,
): boolean {
  const times = [...headers.values()].map((header) => header.timestamp);
  const latest = Math.max(...times);
  let least = Math.min(...times);
  let blockNumber = -1;
  for (const log of logs) {
    const timestamp = log.timestamp ?? -1;
    if (timestamp < least || timestamp > latest) return false;
    if (log.blockNumber === blockNumber && timestamp !== least) return false;
    const header = headers.get(log.blockNumber);
    if (header !== undefined && header.timestamp !== timestamp) return false;
    blockNumber = log.blockNumber;
    least = timestamp;
  }
  return true;
}

/** Groups ordered logs into blocks. The logs of a block whose header is missing have its time. */
export function assembleBlocks(
  logs: readonly RawLog[],
  headers: ReadonlyMap<number, Header>,
): Block[] {
  const blocks: Block[] = [];
  for (let start = 0; start < logs.length; ) {
    const first = logs[start];
    if (first === undefined) break;
    let end = start + 1;
    while (logs[end]?.blockNumber === first.blockNumber) end += 1;
    const header = headers.get(first.blockNumber);
    const timestamp = header?.timestamp ?? first.timestamp ?? null;
    assert(timestamp !== null, "a block has a header, or logs with its time");
    blocks.push({
      number: first.blockNumber,
      hash: first.blockHash,
      parentHash: header?.parentHash ?? null,
      timestamp,
      logs: logs.slice(start, end),
    });
    start = end;
  }
  return blocks;
}
