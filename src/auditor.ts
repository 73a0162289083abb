/**
 * The slow second look (R7): reads stored ranges again from the nodes, a few calls a minute, and
 * judges the store by them. What is proven wrong is repaired: the right rows are laid down and
 * ordered, and the service starts anew to take them over. What is only doubted is looked at again.
 */
import { type AuditParts, auditRange, type Difference, type Verdict } from "./audit-range.ts";
import type { Clock } from "./base/clock.ts";
import { AppError, toError } from "./base/errors.ts";
import { auditLimits } from "./base/limits.ts";
import type { Log } from "./base/log.ts";
import type { BlockRange } from "./chain/log.ts";
import { AuditBook, type AuditResult, type AuditTotals, type Finding } from "./store/audit-book.ts";
import type { FactStore } from "./store/fact-store.ts";
import { orderRepair } from "./store/repair.ts";

/** A repair was ordered: a start carries it out. */
export class RepairOrderedError extends Error {
  override name = "RepairOrderedError";

  constructor({ from, to }: BlockRange) {
    super(`blocks ${from} to ${to} are repaired by a start`);
  }
}

/** What is known of the store's truth. */
export type AuditStatus = AuditTotals & {
  /** Ranges that are proven to be wrong and not repaired. */
  readonly wrong: readonly Finding[];
  /** Ranges that somebody contradicts, without a proof. */
  readonly doubted: readonly Finding[];
};

type AuditorParts = {
  readonly dataDir: string;
  readonly store: FactStore;
  readonly reread: AuditParts["reread"];
  readonly endpoints: number;
  /** The budget, over all endpoints; 0 audits nothing. */
  readonly callsPerMinute: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once; only a start helps then. */
  readonly onRepairOrdered: (error: RepairOrderedError) => void;
};

export class Auditor {
  readonly #parts: AuditorParts;
  readonly #book: AuditBook;
  readonly #abort = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #status: AuditStatus;
  #tries = 0;
  /** Whether the range at hand is one that was doubted before. */
  #isRecheck = false;

  private constructor(parts: AuditorParts) {
    this.#parts = parts;
    this.#book = AuditBook.open(parts.dataDir);
    this.#book.settleOrdered(parts.clock.nowMs());
    this.#status = this.#readStatus();
  }

  /** To be opened after the store, which has carried out what was ordered. */
  static open(parts: AuditorParts): Auditor {
    return new Auditor(parts);
  }

  /** Begins, once the chain is followed. */
  start(): void {
    if (this.#parts.callsPerMinute > 0) this.#running = this.#run();
  }

  get status(): AuditStatus {
    return this.#status;
  }

  /** For readiness: not well while the store is known to be wrong. */
  check(): { readonly ok: boolean; readonly detail: string } {
    const { ranges, wrong, doubted } = this.#status;
    const [first] = wrong;
    if (first !== undefined) {
      return { ok: false, detail: `blocks ${first.from} to ${first.to} are stored wrong` };
    }
    const doubts = doubted.length === 0 ? "" : `, ${doubted.length} doubted`;
    return { ok: true, detail: `${ranges} ranges read again${doubts}` };
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#running;
    this.#book.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    let calls: number = auditLimits.callsExpected;
    try {
      while (!signal.aborted) {
        await this.#pause(calls);
        calls = await this.#auditNext();
      }
    } catch (thrown) {
      if (!signal.aborted) this.#parts.log.error({ err: toError(thrown) }, "the audit has stopped");
    }
  }

  /** For as long as so many calls take of the budget. */
  async #pause(calls: number): Promise<void> {
    const { clock, callsPerMinute } = this.#parts;
    const idleMs = calls === 0 ? auditLimits.idleMs : 0;
    await clock.sleep(Math.max(idleMs, (calls * 60_000) / callsPerMinute), this.#abort.signal);
  }

  /** Answers what it cost, in calls; 0 when there was nothing to do. */
  async #auditNext(): Promise<number> {
    const { store } = this.#parts;
    const { coverage } = store;
    if (coverage === null) return 0;
    const covered = { from: coverage.fromBlock, to: coverage.last.number };
    const stale = this.#staleDoubt();
    const range = stale ?? this.#book.next(covered);
    if (range === null) return 0;
    this.#isRecheck = stale !== null;
    try {
      const { engine } = store;
      const verdict = await auditRange(range, { ...this.#parts, engine, reread: this.#reread });
      await this.#take(range, verdict);
      return verdict.calls;
    } catch (thrown) {
      // The engine has too many requests in line: they go first.
      if (thrown instanceof AppError) return 0;
      throw thrown;
    }
  }

  /** Rejects when closed: whoever is asked may take long. */
  readonly #reread: AuditParts["reread"] = async (request) => {
    const { signal } = this.#abort;
    const { promise, reject } = Promise.withResolvers<never>();
    const stop = () => reject(toError(signal.reason));
    signal.throwIfAborted();
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await Promise.race([promise, this.#parts.reread(request)]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };

  #staleDoubt(): BlockRange | null {
    const before = this.#parts.clock.nowMs() - auditLimits.doubtKeptMs;
    return this.#status.doubted.find(({ changedAtMs }) => changedAtMs < before) ?? null;
  }

  async #take(range: BlockRange, verdict: Verdict): Promise<void> {
    switch (verdict.kind) {
      case "unread":
        this.#tries += 1;
        this.#parts.log.debug({ ...range, reason: verdict.reason }, "a range was not audited");
        if (this.#tries >= auditLimits.triesMax) this.#note(range, { kind: "skipped" });
        return;
      case "equal":
        if (verdict.refuted.length > 0) {
          const told = { ...range, hosts: verdict.refuted };
          this.#parts.log.warn(told, "an endpoint contradicts the store, and receipts refute it");
        }
        this.#book.settle(range, this.#parts.clock.nowMs());
        this.#note(range, { kind: "equal", isRefuted: verdict.refuted.length > 0 });
        return;
      case "differs":
        await this.#takeMismatch(range, verdict);
    }
  }

  async #takeMismatch(
    range: BlockRange,
    { right, differences, hosts, doubt }: Extract<Verdict, { kind: "differs" }>,
  ): Promise<void> {
    const { store, log, onRepairOrdered } = this.#parts;
    const detail = describeDifferences(differences);
    const told = { ...range, hosts, count: differences.length, differences: detail };
    if (right === null) {
      log.error({ ...told, doubt }, "the store may be wrong: an endpoint contradicts it");
      this.#note(range, { kind: "differs", state: "doubted", detail: `${doubt}: ${detail}` });
    } else if (this.#wasJustRepaired(range)) {
      log.error(told, "blocks that were repaired are wrong again: run oddwire repair");
      this.#note(range, { kind: "differs", state: "proven", detail });
    } else {
      log.error(told, "the store is wrong, as was proven: it is repaired by a start");
      await orderRepair(store.engine, right);
      this.#note(range, { kind: "differs", state: "ordered", detail });
      this.#abort.abort();
      onRepairOrdered(new RepairOrderedError(range));
    }
  }

  #wasJustRepaired({ from, to }: BlockRange): boolean {
    const after = this.#parts.clock.nowMs() - auditLimits.repairTrustedMs;
    return this.#book.findings().some((finding) => {
      const isSame = finding.from === from && finding.to === to;
      return isSame && finding.state !== "doubted" && finding.changedAtMs > after;
    });
  }

  #note(range: BlockRange, result: AuditResult): void {
    this.#tries = 0;
    const nowMs = this.#parts.clock.nowMs();
    this.#book.note(range, result, { nowMs, isNext: !this.#isRecheck });
    this.#status = this.#readStatus();
  }

  #readStatus(): AuditStatus {
    const findings = this.#book.findings();
    return {
      ...this.#book.totals(),
      wrong: findings.filter(({ state }) => state === "proven" || state === "ordered"),
      doubted: findings.filter(({ state }) => state === "doubted"),
    };
  }
}

/** The first few, and how many there are. */
function describeDifferences(differences: readonly Difference[]): string {
  const named = differences.slice(0, auditLimits.differencesNamedMax).map((difference) => {
    const { block, logIndex, contract, event, problem } = difference;
    return `${event} of ${contract} at block ${block} log ${logIndex} is ${problem}`;
  });
  const others = differences.length - named.length;
  return [...named, ...(others > 0 ? [`and ${others} more`] : [])].join("; ");
}
