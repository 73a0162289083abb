import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { auditLimits } from "../base/config/limits.ts";
import type { BlockRange } from "../chain/raw-log.ts";
import { withDisk, withKeptFile } from "../storage/sqlite/sqlite-failure.ts";

/**
 * A span is the number of a range of `spanBlocks` blocks. The current round has audited the spans from `low_span`
 * (inclusive) to `high_span` (exclusive).
 */
const schema = `
  CREATE TABLE IF NOT EXISTS progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    rounds INTEGER NOT NULL DEFAULT 0,
    low_span INTEGER NOT NULL DEFAULT 0,
    high_span INTEGER NOT NULL DEFAULT 0,
    ranges INTEGER NOT NULL DEFAULT 0,
    blocks INTEGER NOT NULL DEFAULT 0,
    mismatches INTEGER NOT NULL DEFAULT 0,
    false_alarms INTEGER NOT NULL DEFAULT 0,
    repairs INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE IF NOT EXISTS findings (
    from_block INTEGER PRIMARY KEY,
    to_block INTEGER NOT NULL,
    state TEXT NOT NULL,
    detail TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL
  ) STRICT;
  INSERT OR IGNORE INTO progress (id) VALUES (1);
  PRAGMA user_version = 1;
`;

/**
 * - `unverified`: will be compared again
 * - `proven`: wrong, and not repaired automatically: an earlier repair did not last, or the store is a cluster
 * - `gathered`: waits, so that several repairs are ordered together
 * - `ordered`: the next start repairs it
 */
type FindingState = "unverified" | "proven" | "gathered" | "ordered" | "repaired";

/** A range of blocks in which the store was found to differ from the chain. */
export type Finding = BlockRange & {
  readonly state: FindingState;
  readonly detail: string;
  readonly changedAtMs: number;
};

/** Totals of the audit over the whole life of the data folder. */
export type AuditTotals = {
  readonly ranges: number;
  /** Blocks read again; a block counts each time. */
  readonly blocks: number;
  readonly mismatches: number;
  /** Ranges in which an endpoint contradicted the store and receipts disproved the endpoint. */
  readonly falseAlarms: number;
  readonly repairs: number;
  readonly rounds: number;
  /** The contiguous range read again in the current round; `null` before its first range. */
  readonly audited: BlockRange | null;
};

/** The totals as stored, with the ends of the current round in spans. */
type Progress = Omit<AuditTotals, "audited"> & { readonly low: number; readonly high: number };

/** The result of the audit of one range. */
export type AuditResult =
  | { readonly kind: "equal"; readonly isFalseAlarm: boolean }
  | { readonly kind: "differs"; readonly state: FindingState; readonly detail: string }
  /** Given up for now: no endpoint could answer. */
  | { readonly kind: "skipped" };

/**
 * Stores the progress and the findings of the audit in the data folder. Any process can open it at any time.
 * Methods that write throw `DataFolderUnwritableError` when the disk is full or fails.
 */
export class AuditLog {
  readonly #sql: DatabaseSync;

  private constructor(sql: DatabaseSync) {
    this.#sql = sql;
  }

  /** Opens or creates `audit.sqlite`. Throws `StoreDamagedError` too. */
  static open(dataDir: string): AuditLog {
    const path = join(dataDir, "audit.sqlite");
    return withKeptFile(path, () => {
      const sql = new DatabaseSync(path, { timeout: 2000 });
      // Not FULL: after a power loss some ranges are only audited once more.
      sql.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
      sql.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
      return new AuditLog(sql);
    });
  }

  /** Returns the span to audit next as a range of blocks, new spans before older ones; `null` while there is none. */
  next(covered: BlockRange): BlockRange | null {
    const { spanBlocks } = auditLimits;
    const first = Math.floor(covered.from / spanBlocks);
    const end = Math.floor((covered.to + 1) / spanBlocks);
    if (first >= end) return null;
    const span = this.#nextSpan(first, end);
    return { from: Math.max(covered.from, span * spanBlocks), to: (span + 1) * spanBlocks - 1 };
  }

  #nextSpan(first: number, end: number): number {
    const { low, high } = this.#progress();
    const isLost = low === high || high > end || end - high > auditLimits.spansBehindMax;
    if (!isLost && high < end) return high;
    if (!isLost && low > first) return low - 1;
    const rounds = isLost ? 0 : 1;
    this.#write("UPDATE progress SET rounds = rounds + ?, low_span = ?", rounds, end);
    this.#write("UPDATE progress SET high_span = low_span");
    return end - 1;
  }

  /** Stores the result of an audit. `isNext`: the range came from `next`, so the round advances past it. */
  note(
    range: BlockRange,
    result: AuditResult,
    { nowMs, isNext }: { nowMs: number; isNext: boolean },
  ): void {
    const blocks = result.kind === "skipped" ? 0 : range.to - range.from + 1;
    if (isNext) this.#moveOn(range);
    else if (result.kind === "skipped") this.#postpone(range, nowMs);
    this.#write(
      `UPDATE progress SET ranges = ranges + ?, blocks = blocks + ?,
         mismatches = mismatches + ?, false_alarms = false_alarms + ?`,
      blocks === 0 ? 0 : 1,
      blocks,
      result.kind === "differs" ? 1 : 0,
      result.kind === "equal" && result.isFalseAlarm ? 1 : 0,
    );
    if (result.kind === "differs") this.#noteFinding(range, result, nowMs);
  }

  /** Moves a finding that could not be compared now behind the others. */
  #postpone({ from, to }: BlockRange, nowMs: number): void {
    this.#write(
      "UPDATE findings SET changed_at_ms = ? WHERE from_block = ? AND to_block = ?",
      nowMs,
      from,
      to,
    );
  }

  /** Advances the round past a range, even if it could not be audited: its next turn is in the next round. */
  #moveOn({ to }: BlockRange): void {
    const span = Math.floor(to / auditLimits.spanBlocks);
    this.#write("UPDATE progress SET high_span = ? WHERE high_span = ?", span + 1, span);
    this.#write("UPDATE progress SET low_span = ? WHERE low_span = ?", span, span + 1);
  }

  #noteFinding(
    { from, to }: BlockRange,
    { state, detail }: Pick<Finding, "state" | "detail">,
    nowMs: number,
  ): void {
    this.#write(
      "INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?, ?)",
      from,
      to,
      state,
      detail,
      nowMs,
    );
  }

  /** Marks the findings within a range as repaired: its blocks are correct now. */
  markRepaired({ from, to }: BlockRange, nowMs: number): void {
    this.#write(
      `UPDATE findings SET state = 'repaired', changed_at_ms = ?
       WHERE state != 'repaired' AND from_block >= ? AND to_block <= ?`,
      nowMs,
      from,
      to,
    );
  }

  /** Marks all gathered findings as ordered. Call this once the order is durable. */
  markOrdered(nowMs: number): void {
    const from = "state = 'gathered'";
    this.#write(`UPDATE findings SET state = 'ordered', changed_at_ms = ? WHERE ${from}`, nowMs);
  }

  /** Called by a start, which has carried out the ordered repairs. Findings only gathered become unverified. */
  markOrderedRepaired(nowMs: number): void {
    const from = "state = 'gathered'";
    this.#write(`UPDATE findings SET state = 'unverified', changed_at_ms = 0 WHERE ${from}`);
    const repaired = this.#write(
      "UPDATE findings SET state = 'repaired', changed_at_ms = ? WHERE state = 'ordered'",
      nowMs,
    );
    if (repaired > 0) this.#write("UPDATE progress SET repairs = repairs + ?", repaired);
  }

  /** Returns the findings, newest first, at most `findingsReadMax`. */
  findings(): readonly Finding[] {
    return this.#sql
      .prepare(
        `SELECT from_block AS "from", to_block AS "to", state, detail, changed_at_ms AS changedAtMs
         FROM findings ORDER BY changed_at_ms DESC, from_block LIMIT ?`,
      )
      .all(auditLimits.findingsReadMax) as Finding[];
  }

  totals(): AuditTotals {
    const { low, high, ...totals } = this.#progress();
    const { spanBlocks } = auditLimits;
    const audited = low < high ? { from: low * spanBlocks, to: high * spanBlocks - 1 } : null;
    return { ...totals, audited };
  }

  close(): void {
    this.#sql.close();
  }

  /** Returns how many rows changed. */
  #write(statement: string, ...values: (string | number)[]): number {
    return withDisk(() => Number(this.#sql.prepare(statement).run(...values).changes));
  }

  #progress(): Progress {
    const columns = "rounds, ranges, blocks, mismatches, false_alarms AS falseAlarms, repairs";
    const select = `SELECT low_span AS low, high_span AS high, ${columns} FROM progress`;
    return this.#sql.prepare(select).get() as Progress;
  }
}
