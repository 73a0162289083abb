/**
 * Compares a stored range with the chain. Two endpoints are asked for logs; a single endpoint is asked for receipts.
 * Receipts decide a contradiction. Without receipts, two endpoints that agree with each other outvote the store. Receipts
 * prove logs, not times: about times two endpoints decide, or the linked headers of the only one if an operator asks.
 */
import { isDeepStrictEqual } from "node:util";
import { toBlockNumber, toLogIndex } from "../base/ids.ts";
import type { BlockRange } from "../chain/raw-log.ts";
import type { BlockFacts } from "../market/block-facts.ts";
import { type EncodedBatch, encodeFacts } from "../storage/codec/encode-facts.ts";
import type { Engine } from "../storage/engine/engine.ts";
import {
  type FactLine,
  readFactLines,
  readFactSummary,
  toLines,
} from "../storage/recovery/fact-fingerprint.ts";
import { readCommits } from "../storage/recovery/recover.ts";
import { integerLiteral } from "../storage/sql-literal.ts";
import type { FactsReading, FactsRequest, NoReading } from "./reread-facts.ts";

/** A fact on which the store and the chain differ. */
export type Difference = {
  readonly block: number;
  /** `null` for the time of a block, like `contract`. */
  readonly logIndex: number | null;
  readonly contract: string | null;
  readonly event: string;
  /** The stored row is missing, should not be there, or has other values. */
  readonly problem: "missing" | "extra" | "different";
};

/** Formats a difference as one phrase. */
export function formatDifference(difference: Difference): string {
  const { block, logIndex, event, contract, problem } = difference;
  if (logIndex === null) return `block ${block}: its ${event} is ${problem}`;
  return `block ${block} log ${logIndex}: ${event} of ${contract} is ${problem}`;
}

/**
 * - `equal`: every endpoint agrees with the store, or receipts disprove the endpoints in `falseAlarms`
 * - `differs`: `correctFacts` is `null` unless they are proven
 * - `unread`: no endpoint could answer; retry later
 */
export type Verdict =
  | { readonly kind: "equal"; readonly falseAlarms: readonly string[] }
  | {
      readonly kind: "differs";
      readonly hosts: readonly string[];
      readonly differences: readonly Difference[];
      readonly correctFacts: EncodedBatch | null;
      /** Why the difference is not proven, as a phrase; `null` when it is. */
      readonly mismatch: string | null;
    }
  | NoReading;

/** The store to compare, the number of endpoints, and how to ask them. */
export type AuditParts = {
  readonly engine: Engine;
  readonly endpoints: number;
  /** Whether the only endpoint decides about the times of blocks that have the stored hashes. */
  readonly areTimesBelieved?: boolean;
  readonly reread: (request: FactsRequest) => Promise<FactsReading | NoReading>;
};

/** Reads a stored range again from the endpoints and returns the verdict. */
export async function auditRange(range: BlockRange, parts: AuditParts): Promise<Verdict> {
  const { endpoints, reread } = parts;
  const stored = await readFactSummary(parts.engine, range);
  const logs = { ...range, stored, excludedHosts: [], way: "logs" } as const;
  const receipts = { ...logs, way: "receipts" } as const;
  // Not every node keeps receipts. The logs of an only endpoint are better than nothing.
  const first = endpoints > 1 ? await reread(logs) : await readEither(receipts, logs, parts);
  if (first.kind === "unread") return first;
  const readings = [first];
  if (endpoints > 1) {
    const second = await readEither({ ...logs, excludedHosts: [first.host] }, receipts, parts);
    if (second.kind === "read") readings.push(second);
  }
  const mismatches = readings.filter(({ facts }) => facts !== null);
  if (mismatches.length === 0) return judgeLastTime(range, readings, parts);
  return judge(range, mismatches, parts);
}

/** Judges the time of the last block of a range, which a commit record has even if the block has no facts. */
async function judgeLastTime(
  { to }: BlockRange,
  readings: readonly FactsReading[],
  parts: AuditParts,
): Promise<Verdict> {
  const [commit] = await readCommits(parts.engine, `WHERE to_block = ${integerLiteral(to)}`);
  const others = readings.filter(({ last }) => {
    return last.hash === commit?.last.hash && last.timestamp !== commit.last.timestamp;
  });
  const [first, second] = others;
  if (first === undefined) return { kind: "equal", falseAlarms: [] };
  const { last } = first;
  const isDecided = second?.last.timestamp === last.timestamp || isOnlyBelieved(parts);
  const wholeRequest = { from: to, to, stored: {}, excludedHosts: [], way: "receipts" } as const;
  const reading = isDecided ? await parts.reread(wholeRequest) : null;
  if (reading?.kind === "unread") return reading;
  return {
    kind: "differs",
    hosts: others.map(({ host }) => host),
    differences: [
      { block: to, logIndex: null, contract: null, event: "timestamp", problem: "different" },
    ],
    correctFacts:
      reading === null ? null : encodeFacts({ fromBlock: to, last }, reading.facts ?? []),
    mismatch: isDecided ? null : undecidedTimes,
  };
}

function isOnlyBelieved({ endpoints, areTimesBelieved = false }: AuditParts): boolean {
  return endpoints === 1 && areTimesBelieved;
}

const undecidedTimes = "one endpoint contradicts the times of blocks, and no receipts decide";

/** Asks in one way, and in another if no endpoint could answer. */
async function readEither(
  request: FactsRequest,
  otherwise: FactsRequest,
  { reread }: AuditParts,
): Promise<FactsReading | NoReading> {
  const reading = await reread(request);
  return reading.kind === "read" ? reading : reread(otherwise);
}

/** Judges a range of which at least one reading has facts that differ from the store. */
async function judge(
  range: BlockRange,
  mismatches: readonly FactsReading[],
  parts: AuditParts,
): Promise<Verdict> {
  const stored = await readFactLines(parts.engine, range);
  const claims = mismatches.map(({ facts }) => toLines(facts ?? []));
  const blocks = claims.flatMap((lines) =>
    findDifferences(stored, lines).map(({ block }) => block),
  );
  const disputed = { from: Math.min(...blocks), to: Math.max(...blocks) };
  const hosts = mismatches.map(({ host }) => host);
  // An endpoint can serve receipts with a header that has another time.
  const areTimesEqual = claims.every((lines) => otherBlock(stored, lines, "timestamp") === null);
  const areReceiptsEnough = areTimesEqual || isOnlyBelieved(parts);
  const proof = areReceiptsEnough ? await prove(disputed, hosts, parts) : null;
  if (proof?.facts === null) return { kind: "equal", falseAlarms: hosts };
  const [first] = mismatches;
  const facts =
    proof === null ? first?.facts : withProven(first?.facts ?? [], proof.facts, disputed);
  const lines = toLines(facts ?? []);
  // Final blocks are never replaced by blocks of another fork (R3). The operator has to decide.
  const forked = otherBlock(stored, lines, "blockHash");
  const isDecided = proof !== null || isDeepStrictEqual(claims[0], claims[1]);
  const undecided = areTimesEqual
    ? "one endpoint contradicts, and no receipts decide"
    : undecidedTimes;
  const mismatch =
    forked === null ? (isDecided ? null : undecided) : `block ${forked} is of another fork`;
  const last = mismatch === null ? first?.last : undefined;
  return {
    kind: "differs",
    hosts: proof === null ? hosts : [...new Set([...hosts, proof.host])],
    differences: findDifferences(stored, lines),
    correctFacts:
      last === undefined ? null : encodeFacts({ fromBlock: range.from, last }, facts ?? []),
    mismatch,
  };
}

/** Reads receipts, if possible from an endpoint that did not contradict the store. `null` when no endpoint has them. */
async function prove(
  range: BlockRange,
  excludedHosts: readonly string[],
  parts: AuditParts,
): Promise<FactsReading | null> {
  const stored = await readFactSummary(parts.engine, range);
  const request = { ...range, stored, excludedHosts, way: "receipts" } as const;
  const proof = await readEither(request, { ...request, excludedHosts: [] }, parts);
  return proof.kind === "read" ? proof : null;
}

function withProven(
  facts: readonly BlockFacts[],
  proven: readonly BlockFacts[],
  { from, to }: BlockRange,
): readonly BlockFacts[] {
  const others = facts.filter(({ number }) => number < from || number > to);
  return [...others, ...proven].toSorted((one, other) => one.number - other.number);
}

/** Returns the first block whose facts have another time or hash than its stored facts; `null` without one. */
function otherBlock(
  stored: readonly FactLine[],
  read: readonly FactLine[],
  field: "timestamp" | "blockHash",
): number | null {
  const byBlock = new Map(
    stored.flatMap((line) =>
      line[field] === null ? [] : [[toBlockNumber(line.seq), line[field]]],
    ),
  );
  const isOther = (line: FactLine) =>
    (byBlock.get(toBlockNumber(line.seq)) ?? line[field]) !== line[field];
  const other = read.find((line) => line[field] !== null && isOther(line));
  return other === undefined ? null : toBlockNumber(other.seq);
}

function findDifferences(stored: readonly FactLine[], right: readonly FactLine[]): Difference[] {
  // A log can have several lines. Of those that are not equal, one that is stored is another form of one that is not.
  const rights = Map.groupBy(right, ({ seq }) => seq);
  const found: { line: FactLine; problem: Difference["problem"] }[] = [];
  for (const [seq, lines] of Map.groupBy(stored, (line) => line.seq)) {
    const missing = [...(rights.get(seq) ?? [])];
    const extra = lines.filter((line) => {
      const index = missing.findIndex((other) => isDeepStrictEqual(line, other));
      if (index !== -1) missing.splice(index, 1);
      return index === -1;
    });
    for (const line of extra) {
      const other = missing.shift();
      found.push(
        other === undefined ? { line, problem: "extra" } : { line: other, problem: "different" },
      );
    }
    rights.set(seq, missing);
  }
  for (const line of [...rights.values()].flat()) found.push({ line, problem: "missing" });
  return found
    .toSorted((one, other) => one.line.seq - other.line.seq)
    .map(({ line: { seq, contract, event }, problem }) => {
      return { block: toBlockNumber(seq), logIndex: toLogIndex(seq), contract, event, problem };
    });
}
