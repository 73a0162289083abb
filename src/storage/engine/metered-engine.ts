import { AppError, toError } from "../../base/errors.ts";
import { KindCounts } from "../../base/metrics/kind-counts.ts";
import { LatencyHistogram } from "../../base/metrics/latency-histogram.ts";
import { systemClock } from "../../base/time/clock.ts";
import type { StoreKind } from "../schema/schema-target.ts";
import type { BinaryFormat, Engine, Row, Rows } from "./engine.ts";
import type { SpoolFile } from "./spool-file.ts";

/** Measures the queries and inserts of another engine. Commands are not timed: they are rare (start and repair). */
export class MeteredEngine implements Engine {
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
  readonly #engine: Engine;
  readonly #onInsertsFailing: (reason: string) => void;
  /** The error of each table whose newest insert failed. */
  readonly #insertProblems = new Map<string, AppError>();

  /** `onInsertsFailing` is called with one sentence when inserts begin to fail. */
  constructor(engine: Engine, onInsertsFailing: (reason: string) => void = () => {}) {
    this.#engine = engine;
    this.#onInsertsFailing = onInsertsFailing;
  }

  /** Why inserts into some table fail, as a sentence for clients; `null` when none fails. */
  get insertProblem(): string | null {
    const [problem = null] = this.#insertProblems.values();
    return problem?.message ?? null;
  }

  get kind(): StoreKind {
    return this.#engine.kind;
  }

  async query(sql: string): Promise<readonly Row[]> {
    return this.#measured("query", () => this.#engine.query(sql));
  }

  async queryBinary(sql: string, format: BinaryFormat): Promise<Buffer> {
    return this.#measured("query", () => this.#engine.queryBinary(sql, format));
  }

  async command(sql: string): Promise<void> {
    return this.#engine.command(sql);
  }

  async deleteRows(table: string, where: string): Promise<void> {
    return this.#engine.deleteRows(table, where);
  }

  async openRows(): Promise<SpoolFile> {
    return this.#engine.openRows();
  }

  async insert(table: string, rows: Rows, token?: string): Promise<void> {
    // Engines ignore an insert without rows. It must not be measured as a fast insert.
    if (rows.length === 0) return;
    try {
      await this.#measured("insert", () => this.#engine.insert(table, rows, token));
      this.#insertProblems.delete(table);
    } catch (thrown) {
      this.#noteInsertFailure(table, thrown);
      throw thrown;
    }
  }

  async close(): Promise<void> {
    return this.#engine.close();
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
  #noteInsertFailure(table: string, thrown: unknown): void {
    if (!(thrown instanceof AppError) || thrown.cause === undefined) return;
    if (this.#insertProblems.size === 0) this.#onInsertsFailing(toError(thrown.cause).message);
    this.#insertProblems.set(table, thrown);
  }
}
