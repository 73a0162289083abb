import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { auditLimits } from "../base/limits.ts";
import type { BlockRange } from "../chain/log.ts";
import { withDisk, withKeptFile } from "./sqlite-failure.ts";

/**
 * `pass` goes through all spans of which the number modulo the share is its own; so many passes
 * read everything once. `next_span` is where the pass goes on.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    pass INTEGER NOT NULL DEFAULT 0,
    next_span INTEGER NOT NULL DEFAULT 0,
    round_blocks INTEGER NOT NULL DEFAULT 0,
    ranges INTEGER NOT NULL DEFAULT 0,
    blocks INTEGER NOT NULL DEFAULT 0,
    mismatches INTEGER NOT NULL DEFAULT 0,
    refuted INTEGER NOT NULL DEFAULT 0,
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
`;

/**
 * How a mismatch stands: `doubted` is not proven and looked at again, `proven` is but could not be
 * repaired for good, `ordered` is repaired by the next start, `repaired` is.
 */
type FindingState = "doubted" | "proven" | "ordered" | "repaired";

/** Blocks of which the store was found to say something else than the chain. */
export type Finding = BlockRange & {
  readonly state: FindingState;
  readonly detail: string;
  readonly changedAtMs: number;
};

/** What was audited, over the whole life of the data folder. */
export type AuditTotals = {
  readonly ranges: number;
  /** Blocks, each as often as it was read again. */
  readonly blocks: number;
  readonly mismatches: number;
  /** Ranges of which an endpoint contradicted the store, and was refuted by receipts. */
  readonly refuted: number;
  readonly repairs: number;
  /** How often everything was read again. */
  readonly rounds: number;
  /** Blocks read again in the round under way. */
  readonly roundBlocks: number;
};

/** What an audit came to. */
export type AuditResult =
  | { readonly kind: "equal"; readonly isRefuted: boolean }
  | { readonly kind: "differs"; readonly state: FindingState; readonly detail: string }
  /** Given up for this time. */
  | { readonly kind: "skipped" };

/**
 * Remembers in the data folder what was audited and found; any process may open it at any time.
 * What writes throws `DataFolderUnwritableError` when the disk is full or fails.
 */
export class AuditBook {
  readonly #sql: DatabaseSync;

  private constructor(sql: DatabaseSync) {
    this.#sql = sql;
  }

  /** Throws `DataFolderDamagedError` too. */
  static open(dataDir: string): AuditBook {
    const path = join(dataDir, "audit.sqlite");
    return withKeptFile(path, () => {
      const sql = new DatabaseSync(path, { timeout: 2000 });
      // Not FULL: after a loss of power some ranges are audited once more.
      sql.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${schema}`);
      return new AuditBook(sql);
    });
  }

  /** The range to audit now, of whole spans within the coverage, in the next pass where this one has ended; `null` while there is none. */
  next(covered: BlockRange): BlockRange | null {
    const { spanBlocks, share } = auditLimits;
    const [firstSpan, endSpan] = [covered.from, covered.to + 1].map((block) =>
      Math.floor(block / spanBlocks),
    ) as [number, number];
    let { pass, next_span: nextSpan } = this.#progress();
    for (let tries = 0; tries <= share; tries += 1) {
      const least = Math.max(nextSpan, firstSpan);
      const span = least + ((((pass - least) % share) + share) % share);
      if (span < endSpan) {
        const from = Math.max(covered.from, span * spanBlocks);
        return { from, to: (span + 1) * spanBlocks - 1 };
      }
      pass += 1;
      nextSpan = 0;
      const isNewRound = pass % share === 0 ? 0 : 1;
      this.#write(
        "UPDATE progress SET pass = ?, next_span = 0, round_blocks = round_blocks * ?",
        pass,
        isNewRound,
      );
    }
    return null;
  }

  /** Notes what an audit came to; one of a range that `next` gave moves the pass on. */
  note(
    range: BlockRange,
    result: AuditResult,
    { nowMs, isNext }: { nowMs: number; isNext: boolean },
  ): void {
    const blocks = result.kind === "skipped" ? 0 : range.to - range.from + 1;
    if (isNext) this.#moveOn(range, blocks);
    else if (result.kind === "skipped") this.#postpone(range, nowMs);
    this.#write(
      `UPDATE progress SET ranges = ranges + ?, blocks = blocks + ?,
         mismatches = mismatches + ?, refuted = refuted + ?`,
      blocks === 0 ? 0 : 1,
      blocks,
      result.kind === "differs" ? 1 : 0,
      result.kind === "equal" && result.isRefuted ? 1 : 0,
    );
    if (result.kind === "differs") this.#noteFinding(range, result, nowMs);
  }

  /** What cannot be looked at again now has its turn later: others come first. */
  #postpone({ from, to }: BlockRange, nowMs: number): void {
    this.#write(
      "UPDATE findings SET changed_at_ms = ? WHERE from_block = ? AND to_block = ?",
      nowMs,
      from,
      to,
    );
  }

  #moveOn({ to }: BlockRange, blocks: number): void {
    this.#write(
      "UPDATE progress SET next_span = ?, round_blocks = round_blocks + ?",
      Math.floor(to / auditLimits.spanBlocks) + 1,
      blocks,
    );
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

  /** Says that the blocks are right now. What had been found of them is over. */
  settle({ from, to }: BlockRange, nowMs: number): void {
    this.#write(
      `UPDATE findings SET state = 'repaired', changed_at_ms = ?
       WHERE state != 'repaired' AND from_block >= ? AND to_block <= ?`,
      nowMs,
      from,
      to,
    );
  }

  /** Says that every repair that was ordered has been carried out, as a start does. */
  settleOrdered(nowMs: number): void {
    const repaired = this.#write(
      "UPDATE findings SET state = 'repaired', changed_at_ms = ? WHERE state = 'ordered'",
      nowMs,
    );
    if (repaired > 0) this.#write("UPDATE progress SET repairs = repairs + ?", repaired);
  }

  /** The newest first; bounded. */
  findings(): readonly Finding[] {
    const rows = this.#sql
      .prepare("SELECT * FROM findings ORDER BY changed_at_ms DESC, from_block LIMIT ?")
      .all(auditLimits.findingsReadMax);
    return rows.map((row) => ({
      from: Number(row["from_block"]),
      to: Number(row["to_block"]),
      state: String(row["state"]) as FindingState,
      detail: String(row["detail"]),
      changedAtMs: Number(row["changed_at_ms"]),
    }));
  }

  totals(): AuditTotals {
    const row = this.#progress();
    const { pass, ranges, blocks, mismatches, refuted, repairs, round_blocks: roundBlocks } = row;
    const rounds = Math.floor(pass / auditLimits.share);
    return { ranges, blocks, mismatches, refuted, repairs, rounds, roundBlocks };
  }

  close(): void {
    this.#sql.close();
  }

  /** Answers how many rows changed. */
  #write(statement: string, ...values: (string | number)[]): number {
    return withDisk(() => Number(this.#sql.prepare(statement).run(...values).changes));
  }

  #progress() {
    const row = this.#sql.prepare("SELECT * FROM progress").get() ?? {};
    const read = (name: string) => Number(row[name]);
    return {
      pass: read("pass"),
      next_span: read("next_span"),
      round_blocks: read("round_blocks"),
      ranges: read("ranges"),
      blocks: read("blocks"),
      mismatches: read("mismatches"),
      refuted: read("refuted"),
      repairs: read("repairs"),
    };
  }
}
