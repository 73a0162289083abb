import { join } from "node:path";
import { auditLimits } from "../base/config/limits.ts";
import { isJsonObject } from "../base/json.ts";
import type { BlockRange } from "../chain/raw-log.ts";
import { readJsonFile, writeJsonFile } from "../storage/directory/json-file.ts";

/**
 * - `unverified`: will be compared again
 * - `proven`: wrong, and not repaired automatically: an earlier repair did not last, or the store is a cluster
 * - `ordered`: the next start repairs it
 */
type FindingState = "unverified" | "proven" | "ordered" | "repaired";

/** A range of blocks in which the store was found to differ from the chain. */
export type Finding = BlockRange & {
  readonly state: FindingState;
  readonly detail: string;
  readonly changedAtMs: number;
};

/** What is stored, over the whole life of the data directory. */
type AuditState = {
  ranges: number;
  /** Blocks read again; a block counts each time. */
  blocks: number;
  mismatches: number;
  /** Ranges in which an endpoint contradicted the store and receipts disproved the endpoint. */
  falseAlarms: number;
  repairs: number;
  rounds: number;
  /**
   * The current round has audited the ranges from number `lowRange` (inclusive) to `highRange` (exclusive). Each has
   * `rangeBlocks` blocks; the number of the first range of the chain is 0.
   */
  lowRange: number;
  highRange: number;
  /** The newest findings, newest first, one for each first block. */
  findings: readonly Finding[];
  /** Blocks that came from a lake, until all of them were read again; absent when there are none. */
  imported?: BlockRange | undefined;
};

/** What the audit knows about the correctness of the store. */
export type AuditStatus = AuditLog["status"];

const wrongStates: ReadonlySet<FindingState> = new Set(["proven", "ordered"]);

/** The result of the audit of one range. */
export type AuditResult =
  | { readonly kind: "equal"; readonly isFalseAlarm: boolean }
  | { readonly kind: "differs"; readonly state: FindingState; readonly detail: string }
  /** Given up for now: no endpoint could answer. */
  | { readonly kind: "skipped" };

/**
 * Stores the progress and the findings of the audit in the data directory. Methods that write throw
 * `DataDirectoryUnwritableError` when the disk is full or fails.
 */
export class AuditLog {
  readonly #path: string;
  readonly #state: AuditState;

  private constructor(path: string, state: AuditState) {
    this.#path = path;
    this.#state = state;
  }

  /** Reads `audit.json`, if it is there. Throws `StoreDamagedError`. */
  static async open(dataDir: string): Promise<AuditLog> {
    const path = join(dataDir, "audit.json");
    const advice = "delete it: the audit then starts again";
    const state = await readJsonFile(path, { isValid: isAuditState, advice });
    return new AuditLog(path, state ?? newState());
  }

  /** The findings, newest first, at most `findingsMax`. */
  get findings(): readonly Finding[] {
    return this.#state.findings;
  }

  get status() {
    const { lowRange, highRange, findings, imported: _imported, ...totals } = this.#state;
    const { rangeBlocks } = auditLimits;
    const isBegun = lowRange < highRange;
    return {
      ...totals,
      /** The contiguous range read again in the current round; `null` before its first range. */
      audited: isBegun ? { from: lowRange * rangeBlocks, to: highRange * rangeBlocks - 1 } : null,
      /** Blocks of a lake that are not proven yet, and the share of them that was read again; `null` without any. */
      imported: this.#imported(),
      /** Ranges that are proven wrong and not repaired yet. */
      wrong: findings.filter(({ state }) => wrongStates.has(state)),
      /** Ranges that the next start repairs, the one found last first. */
      ordered: findings.filter(({ state }) => state === "ordered"),
      /** Ranges that an endpoint contradicts without a proof. */
      unverified: findings.filter(({ state }) => state === "unverified"),
    };
  }

  /**
   * Returns the blocks to audit next, newer ranges first; `null` while there is none. Blocks imported from a lake begin
   * each round, and every fourth range at most is a newer one. Every other imported range is random (`random` is from 0
   * to 1), so that a changed day is found long before all of them are read.
   */
  next(covered: BlockRange, random: () => number = Math.random): BlockRange | null {
    const { rangeBlocks } = auditLimits;
    const first = Math.floor(covered.from / rangeBlocks);
    const end = Math.floor((covered.to + 1) / rangeBlocks);
    if (first >= end) return null;
    this.#beginRound(first, end);
    const { imported, lowRange: low, highRange: high } = this.#state;
    const draw = imported === undefined ? 0 : random();
    if (high < end && (low <= first || draw < 0.25)) return rangeAt(high, covered);
    if (draw < 0.5) return rangeAt(low - 1, covered);
    return rangeAt(first + Math.floor(random() * (low - first)), covered);
  }

  /** Marks blocks as imported from a lake: no endpoint has confirmed them yet. */
  async markImported(range: BlockRange): Promise<void> {
    const { imported, lowRange } = this.#state;
    this.#state.imported = {
      from: Math.min(range.from, imported?.from ?? range.from),
      to: range.to,
    };
    // The round begins again with the newest imported blocks.
    this.#state.highRange = lowRange;
    await this.#save();
  }

  #imported(): (BlockRange & { readonly share: number }) | null {
    const { imported, lowRange, highRange } = this.#state;
    if (imported === undefined) return null;
    const { from, to } = imported;
    // The round has not reached the blocks above it, in a range that is not complete yet.
    const begin = Math.max(from, lowRange * auditLimits.rangeBlocks);
    const end = Math.min(to + 1, highRange * auditLimits.rangeBlocks);
    const open = this.findings.filter(
      (one) => one.state === "unverified" && one.from >= begin && one.from < end,
    );
    const unread = open.reduce((sum, one) => sum + Math.min(one.to + 1, end) - one.from, 0);
    return { from, to, share: Math.max(0, end - begin - unread) / (to + 1 - from) };
  }

  /** Begins a round when the last one is complete, or too far from the newest blocks to be continued. */
  #beginRound(first: number, end: number): void {
    const state = this.#state;
    const { lowRange: low, highRange: high, imported } = state;
    const { rangeBlocks, rangesBehindMax } = auditLimits;
    const isBehind = imported === undefined && end - high > rangesBehindMax;
    const isLost = low === high || high > end || isBehind;
    const isComplete = !isLost && low <= first && high === end;
    if (isComplete) state.rounds += 1;
    if (!isLost && !isComplete) return;
    const importedEnd = Math.floor((imported?.to ?? 0) / rangeBlocks) + 1;
    const top = imported === undefined ? end : Math.min(end, Math.max(first + 1, importedEnd));
    state.lowRange = top;
    state.highRange = top;
  }

  /** Stores the result of an audit of a range, which came from `next` or is unverified. */
  async record(range: BlockRange, result: AuditResult, nowMs: number): Promise<void> {
    const state = this.#state;
    const { from, to } = range;
    this.#moveOn(to);
    if (result.kind === "skipped") {
      // A finding that could not be compared now moves behind the others.
      const isUnverified = (one: Finding) => one.from === from && one.state === "unverified";
      this.#change(isUnverified, { changedAtMs: nowMs });
      if (from <= (state.imported?.to ?? -1) && !this.findings.some((one) => one.from === from)) {
        const detail = "no endpoint could return these imported blocks";
        const finding = { ...range, state: "unverified", detail, changedAtMs: nowMs } as const;
        state.findings = [finding, ...state.findings];
      }
    } else {
      state.ranges += 1;
      state.blocks += to - from + 1;
    }
    if (result.kind === "equal" && result.isFalseAlarm) state.falseAlarms += 1;
    if (result.kind === "differs") {
      state.mismatches += 1;
      const { kind: _, ...finding } = result;
      const others = state.findings.filter((one) => one.from !== from);
      state.findings = [{ ...range, ...finding, changedAtMs: nowMs }, ...others];
    }
    if (result.kind === "equal") await this.markRepaired(range, nowMs);
    else await this.#save();
    if (Number(this.#imported()?.share) < 1 || state.imported === undefined) return;
    state.imported = undefined;
    await this.#save();
  }

  /** Has the range of a stored block compared again soon, because no endpoint could prove its logs. */
  async queue(block: number, covered: BlockRange, nowMs: number): Promise<void> {
    const range = rangeAt(Math.floor(block / auditLimits.rangeBlocks), covered);
    const isOpen = (one: Finding) => one.from === range.from && one.state !== "repaired";
    if (this.findings.some(isOpen)) return;
    const detail = `the logs of block ${block} are not proven`;
    const others = this.findings.filter(({ from }) => from !== range.from);
    this.#state.findings = [
      { ...range, state: "unverified", detail, changedAtMs: nowMs },
      ...others,
    ];
    await this.#save();
  }

  /** Advances the round past a range at its ends, even if it could not be audited: its next turn is in the next round. */
  #moveOn(to: number): void {
    const state = this.#state;
    const number = Math.floor(to / auditLimits.rangeBlocks);
    if (state.highRange === number) state.highRange = number + 1;
    if (state.lowRange === number + 1) state.lowRange = number;
  }

  /** Marks the findings within a range as repaired: its blocks are correct now. */
  async markRepaired({ from, to }: BlockRange, nowMs: number): Promise<void> {
    this.#change((one) => one.state !== "repaired" && one.from >= from && one.to <= to, {
      state: "repaired",
      changedAtMs: nowMs,
    });
    await this.#save();
  }

  /** Called by a start, which has carried out the ordered repairs. */
  async markOrderedRepaired(nowMs: number): Promise<void> {
    this.#state.repairs += this.status.ordered.length;
    this.#change(({ state }) => state === "ordered", { state: "repaired", changedAtMs: nowMs });
    await this.#save();
  }

  #change(isChanged: (finding: Finding) => boolean, change: Partial<Finding>): void {
    this.#state.findings = this.findings
      .map((finding) => (isChanged(finding) ? { ...finding, ...change } : finding))
      .toSorted((one, other) => other.changedAtMs - one.changedAtMs);
  }

  async #save(): Promise<void> {
    const state = this.#state;
    state.findings = state.findings.slice(0, auditLimits.findingsMax);
    await writeJsonFile(this.#path, state);
  }
}

/** Returns the blocks of the range with this number, as far as they are covered from below. */
function rangeAt(number: number, { from }: BlockRange): BlockRange {
  const first = number * auditLimits.rangeBlocks;
  return { from: Math.max(from, first), to: first + auditLimits.rangeBlocks - 1 };
}

function isAuditState(value: unknown): value is AuditState {
  if (!isJsonObject(value) || !Array.isArray(value["findings"])) return false;
  return Object.entries(newState()).every(([name, first]) => typeof value[name] === typeof first);
}

function newState(): AuditState {
  const counts = { ranges: 0, blocks: 0, mismatches: 0, falseAlarms: 0, repairs: 0, rounds: 0 };
  return { ...counts, lowRange: 0, highRange: 0, findings: [] };
}
