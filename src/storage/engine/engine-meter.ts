import { AppError, toError } from "../../base/errors.ts";
import { KindCounts } from "../../base/metrics/kind-counts.ts";
import { LatencyHistogram } from "../../base/metrics/latency-histogram.ts";
import { systemClock } from "../../base/time/clock.ts";

/** Measures the queries and inserts of an engine. Commands are not measured: they are rare (start and repair). */
export class EngineMeter {
  readonly latencies = {
    query: new LatencyHistogram({
      name: "oddwire_store_query_duration_seconds",
      help: "Duration of queries, waiting included",
      labelNames: [],
    }),
    insert: new LatencyHistogram({
      name: "oddwire_store_insert_duration_seconds",
      help: "Duration of inserts, until they are durable",
      labelNames: [],
    }),
  } as const;
  readonly failures = new KindCounts<"query" | "insert">();
  /** Called with one sentence when inserts begin to fail. */
  onInsertsFailing: (reason: string) => void = () => {};
  /** The error of each table whose newest insert failed. */
  readonly #insertProblems = new Map<string, AppError>();

  /** Why inserts into some table fail, as a sentence for clients; `null` when none fails. */
  get insertProblem(): string | null {
    const [problem = null] = this.#insertProblems.values();
    return problem?.message ?? null;
  }

  async query<Result>(run: () => Promise<Result>): Promise<Result> {
    return this.#measured("query", run);
  }

  async insert(table: string, run: () => Promise<void>): Promise<void> {
    try {
      await this.#measured("insert", run);
      this.#insertProblems.delete(table);
    } catch (thrown) {
      this.#recordInsertFailure(table, thrown);
      throw thrown;
    }
  }

  async #measured<Result>(
    operation: "query" | "insert",
    run: () => Promise<Result>,
  ): Promise<Result> {
    const startedAtMs = systemClock.monotonicMs();
    try {
      const result = await run();
      this.latencies[operation].observe({}, systemClock.monotonicMs() - startedAtMs);
      return result;
    } catch (thrown) {
      this.failures.add(operation);
      throw thrown;
    }
  }

  /** Remembers why an insert failed. An error without a cause only means that too many wait: the insert is repeated. */
  #recordInsertFailure(table: string, thrown: unknown): void {
    if (!(thrown instanceof AppError) || thrown.cause === undefined) return;
    if (this.#insertProblems.size === 0) this.onInsertsFailing(toError(thrown.cause).message);
    this.#insertProblems.set(table, thrown);
  }
}
