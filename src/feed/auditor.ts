/**
 * The audit (R7): reads stored ranges again from the nodes, within a budget of calls. The repairs of proven mismatches
 * are ordered immediately, and a restart carries them out. Mismatches without a proof are compared again.
 */

import { addAbortListener } from "node:events";
import { auditLimits } from "../base/config/limits.ts";
import { AppError, StartAgainError, toError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Clock } from "../base/time/clock.ts";
import type { BlockRange } from "../chain/raw-log.ts";
import { orderRepair } from "../storage/recovery/repair.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { AuditLog, AuditResult, AuditStatus } from "./audit-log.ts";
import {
  type AuditParts,
  auditRange,
  type Difference,
  formatDifference,
  type Verdict,
} from "./audit-range.ts";

type AuditorParts = {
  readonly auditLog: AuditLog;
  readonly facts: IndexedFacts;
  readonly reread: AuditParts["reread"];
  readonly endpoints: number;
  /** Reads the numbers of the last blocks that were indexed without a proof of their logs. */
  readonly unproven: () => readonly number[];
  /** The budget of calls over all endpoints; 0 turns the audit off. */
  readonly callsPerMinute: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once, when repairs were ordered: the next start carries them out. */
  readonly onRepairOrdered: (error: StartAgainError) => void;
};

export class Auditor {
  readonly #parts: AuditorParts;
  readonly #abort = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #queued: ReadonlySet<number> = new Set();
  #tries = 0;
  #calls = 0;
  /** Whether the current range is audited again because of an unproven mismatch. */
  #isRecheck = false;
  /** Monotonic time of the first ordered repair; `null` while none is ordered. */
  #orderedAtMs: number | null = null;

  constructor(parts: AuditorParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#parts.callsPerMinute > 0) this.#running = this.#run();
  }

  get status(): AuditStatus {
    return this.#parts.auditLog.status;
  }

  /** For readiness: fails while the store is known to be wrong. */
  check(): { readonly ok: boolean; readonly detail: string } {
    const { ranges, wrong, unverified, audited, imported } = this.status;
    const [first] = wrong;
    if (first !== undefined) {
      return { ok: false, detail: `blocks ${first.from} to ${first.to} are stored incorrectly` };
    }
    const reach = audited === null ? "" : `, blocks ${audited.from} to ${audited.to} in this round`;
    const ending = unverified.length === 1 ? "" : "es";
    const unproven =
      unverified.length === 0 ? "" : `, ${unverified.length} unproven mismatch${ending}`;
    return {
      ok: true,
      detail: `${ranges} ${ranges === 1 ? "range" : "ranges"} audited${reach}${unproven}${describeImported(imported)}`,
    };
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    const { callsPerMinute } = this.#parts;
    let owedMs = (auditLimits.callsExpected * 60_000) / callsPerMinute;
    try {
      while (!signal.aborted) {
        owedMs -= await this.#pause(owedMs);
        const calls = await this.#auditNext();
        owedMs += calls === 0 ? auditLimits.idleMs : (calls * 60_000) / callsPerMinute;
      }
    } catch (thrown) {
      if (!signal.aborted)
        this.#parts.log.error({ err: toError(thrown) }, "audit stopped; a restart resumes it");
    }
  }

  /** Waits for the budget, or until a mismatch is due to be compared again. Returns the milliseconds waited. */
  async #pause(owedMs: number): Promise<number> {
    const { clock } = this.#parts;
    const dueMs = this.#isRecheck ? Number.POSITIVE_INFINITY : this.#untilRecheckMs();
    const pauseMs = Math.max(0, Math.min(owedMs, dueMs));
    await clock.sleep(pauseMs, this.#abort.signal);
    return pauseMs;
  }

  #untilRecheckMs(): number {
    const changedAtMs = Math.min(...this.status.unverified.map((finding) => finding.changedAtMs));
    return changedAtMs + auditLimits.mismatchKeptMs - this.#parts.clock.nowMs();
  }

  /** Audits one range. Returns its cost in calls; 0 when there was nothing to do. */
  async #auditNext(): Promise<number> {
    const { facts } = this.#parts;
    const { coverage } = facts;
    if (coverage === null) return 0;
    if (this.#isRestartDue()) this.#startAgain();
    const covered = { from: coverage.fromBlock, to: coverage.last.number };
    await this.#queueUnproven(covered);
    // Between two rechecks the next regular range has its turn.
    const stale = this.#isRecheck ? null : this.#staleMismatch();
    const range = stale ?? this.#parts.auditLog.next(covered);
    if (range === null) return 0;
    this.#isRecheck = stale !== null;
    this.#calls = 0;
    try {
      const { engine } = facts;
      const verdict = await auditRange(range, { ...this.#parts, engine, reread: this.#reread });
      await this.#take(range, verdict);
      return this.#calls;
    } catch (thrown) {
      // The engine is overloaded: queries of clients go first.
      if (thrown instanceof AppError) return 0;
      throw thrown;
    }
  }

  /** Counts calls. Rejects when the auditor is closed, since an endpoint can take long to answer. */
  readonly #reread: AuditParts["reread"] = async (request) => {
    const { signal } = this.#abort;
    const { promise, reject } = Promise.withResolvers<never>();
    using _stop = addAbortListener(signal, () => reject(toError(signal.reason)));
    const reading = await Promise.race([promise, this.#parts.reread(request)]);
    this.#calls += reading.kind === "read" ? reading.calls : 1;
    return reading;
  };

  async #queueUnproven(covered: BlockRange): Promise<void> {
    const { auditLog, clock, unproven } = this.#parts;
    const { rangeBlocks } = auditLimits;
    const stored = unproven().filter((block) => {
      return block >= covered.from && block - (block % rangeBlocks) + rangeBlocks - 1 <= covered.to;
    });
    for (const block of stored) {
      if (!this.#queued.has(block)) await auditLog.queue(block, covered, clock.nowMs());
    }
    this.#queued = new Set(stored);
  }

  #staleMismatch(): BlockRange | null {
    const before = this.#parts.clock.nowMs() - auditLimits.mismatchKeptMs;
    return this.status.unverified.find(({ changedAtMs }) => changedAtMs <= before) ?? null;
  }

  async #take(range: BlockRange, verdict: Verdict): Promise<void> {
    switch (verdict.kind) {
      case "unread":
        this.#tries += 1;
        this.#parts.log.debug(
          { ...range, reason: verdict.reason },
          "audit of a range failed; retrying",
        );
        if (this.#tries >= auditLimits.triesMax) await this.#record(range, { kind: "skipped" });
        return;
      case "equal":
        if (verdict.falseAlarms.length > 0) {
          const reported = { ...range, hosts: verdict.falseAlarms };
          this.#parts.log.warn(
            reported,
            "endpoint returned wrong logs in an audit; receipts confirm the stored blocks",
          );
        }
        await this.#record(range, { kind: "equal", isFalseAlarm: verdict.falseAlarms.length > 0 });
        return;
      case "differs":
        await this.#recordMismatch(range, verdict);
    }
  }

  async #recordMismatch(
    range: BlockRange,
    { correctFacts, differences, hosts, mismatch }: Extract<Verdict, { kind: "differs" }>,
  ): Promise<void> {
    const { log } = this.#parts;
    // The audit is back at an ordered range, so it has seen all others since. There is nothing to wait for.
    if (this.status.ordered.some(({ from }) => from === range.from)) return this.#startAgain();
    const detail = describeDifferences(differences);
    const reported = { ...range, hosts, count: differences.length, differences: detail };
    if (correctFacts === null) {
      log.error(
        { ...reported, mismatch },
        "stored blocks may be wrong: an endpoint has others; retrying",
      );
      const undecided = `${mismatch}: ${detail}`;
      await this.#record(range, { kind: "differs", state: "unverified", detail: undecided });
    } else if (this.#parts.facts.engine.kind === "cluster") {
      // Other nodes read a cluster all the time, and its replicas would differ during a repair.
      log.error(
        reported,
        "stored blocks are proven wrong; a ClickHouse cluster is not repaired: " +
          "index again into another ODDWIRE_CLICKHOUSE_DATABASE",
      );
      await this.#record(range, { kind: "differs", state: "proven", detail });
    } else if (this.#wasJustRepaired(range)) {
      log.error(reported, "repaired blocks are wrong again; run oddwire repair");
      await this.#record(range, { kind: "differs", state: "proven", detail });
    } else {
      log.error(reported, "stored blocks are proven wrong; restarting to repair them");
      await orderRepair(this.#parts.facts.engine, correctFacts);
      this.#orderedAtMs ??= this.#parts.clock.monotonicMs();
      await this.#record(range, { kind: "differs", state: "ordered", detail });
    }
  }

  /** Waits for more repairs: wrong ranges often lie close together, and each restart costs seconds of downtime. */
  #isRestartDue(): boolean {
    if (this.#orderedAtMs === null) return false;
    const waitedMs = this.#parts.clock.monotonicMs() - this.#orderedAtMs;
    const { repairGatherMs, repairsAtOnceMax } = auditLimits;
    return waitedMs >= repairGatherMs || this.status.ordered.length >= repairsAtOnceMax;
  }

  #startAgain(): void {
    this.#abort.abort();
    const ranges = this.status.ordered.map(({ from, to }) => `${from} to ${to}`).toReversed();
    const message = `blocks ${ranges.join(", ")} are repaired by a restart`;
    this.#parts.onRepairOrdered(new StartAgainError(message));
  }

  #wasJustRepaired({ from, to }: BlockRange): boolean {
    const after = this.#parts.clock.nowMs() - auditLimits.repairTrustedMs;
    return this.#parts.auditLog.findings.some((finding) => {
      const isSame = finding.from === from && finding.to === to;
      return isSame && finding.state !== "unverified" && finding.changedAtMs > after;
    });
  }

  async #record(range: BlockRange, result: AuditResult): Promise<void> {
    this.#tries = 0;
    await this.#parts.auditLog.record(range, result, this.#parts.clock.nowMs());
  }
}

function describeImported(imported: AuditStatus["imported"]): string {
  if (imported === null) return "";
  const percent = (Math.floor(imported.share * 1000) / 10).toFixed(1);
  return `; blocks ${imported.from} to ${imported.to} are imported, audited to ${percent} %`;
}

function describeDifferences(differences: readonly Difference[]): string {
  const named = differences.slice(0, auditLimits.differencesNamedMax).map(formatDifference);
  const others = differences.length - named.length;
  return [...named, ...(others > 0 ? [`and ${others} more`] : [])].join("; ");
}
