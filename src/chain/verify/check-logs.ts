/**
 * Checks that logs agree with each other and with the headers of their blocks (R4). A violation is an
 * `inconsistent` `EndpointError`: the endpoint mixed two moments or two forks.
 */
import { EndpointError } from "../chain-errors.ts";
import type { Header } from "../parse/parse-header.ts";
import { isRequested } from "../parse/parse-log.ts";
import type { Block, BlockRange, RawLog, TimedBlock } from "../raw-log.ts";
import type { LogFilter } from "./log-filter.ts";

export type Expected = BlockRange & {
  /** Known headers by number. Logs of these blocks must have their hashes. */
  readonly headers: ReadonlyMap<number, Header>;
  readonly filter: LogFilter;
};

/** What is expected of the logs of one block. */
export function onlyBlock(header: Header) {
  return { from: header.number, to: header.number, headers: new Map([[header.number, header]]) };
}

/** Throws unless every log is in range, wanted, of the right block, and after the previous log. */
export function checkLogs(logs: readonly RawLog[], expected: Expected): void {
  let previous: RawLog | null = null;
  for (const log of logs) {
    const { blockNumber } = log;
    if (blockNumber < expected.from || blockNumber > expected.to) fail(log, "is out of range");
    if (!isRequested(log, expected.filter)) fail(log, "was not asked for");
    if (previous?.blockNumber === blockNumber) checkSameBlock(log, previous);
    else {
      if (previous !== null && blockNumber < previous.blockNumber) fail(log, "is out of order");
      const header = expected.headers.get(blockNumber);
      if (header !== undefined && header.hash !== log.blockHash) fail(log, "is of another fork");
    }
    previous = log;
  }
}

function checkSameBlock(log: RawLog, previous: RawLog): void {
  if (log.logIndex === previous.logIndex) fail(log, "comes twice");
  if (log.logIndex < previous.logIndex) fail(log, "is out of order");
  if (log.blockHash !== previous.blockHash) fail(log, "is of another fork");
  if (log.txIndex < previous.txIndex) fail(log, "has a transaction out of order");
  const isSameTx = log.txHash === previous.txHash;
  if (isSameTx !== (log.txIndex === previous.txIndex)) fail(log, "has a transaction of two places");
}

/** Throws unless every block can follow the lower ones (`describeBrokenLink`). */
export function checkLinks(headers: Iterable<Header>): void {
  let lower: Header | undefined;
  for (const header of [...headers].toSorted((one, other) => one.number - other.number)) {
    const problem = lower === undefined ? null : describeBrokenLink(lower, header);
    if (problem !== null) throw new EndpointError("inconsistent", problem);
    lower = header;
  }
}

/**
 * Says why a block cannot follow a lower one: the next block has another parent, or the time goes back. `null` if it can.
 */
export function describeBrokenLink(
  lower: TimedBlock,
  { number, parentHash, timestamp }: Pick<Block, "number" | "parentHash" | "timestamp">,
): string | null {
  if (number === lower.number + 1 && parentHash !== lower.hash) {
    return `block ${number} is not the child of ${lower.hash}`;
  }
  if (timestamp >= lower.timestamp) return null;
  return `block ${number} is ${lower.timestamp - timestamp} s older than block ${lower.number}`;
}

function fail(log: RawLog, what: string): never {
  throw new EndpointError(
    "inconsistent",
    `log ${log.logIndex} of block ${log.blockNumber} ${what}`,
  );
}
