import { AppError, toError } from "../../base/errors.ts";
import { KindCounts } from "../../base/metrics/kind-counts.ts";
import { LatencyHistogram } from "../../base/metrics/latency-histogram.ts";
import { systemClock } from "../../base/time/clock.ts";
import type { Engine, Row, Rows } from "./engine.ts";
import type { SpoolFile } from "./spool-file.ts";

/** Measures another engine; not how long its commands take, which are rare (start and repair). */
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
  /** Why the newest insert into a table failed, if it did. */
  readonly #insertProblems = new Map<string, AppError>();
  #underWay = 0;

  /** `onInsertsFailing` is called with one sentence when inserts begin to fail. */
  constructor(engine: Engine, onInsertsFailing: (reason: string) => void = () => {}) {
    this.#engine = engine;
    this.#onInsertsFailing = onInsertsFailing;
  }

  /** Why rows of a table cannot be inserted, as clients may know it; `null` when all can. */
  get insertProblem(): string | null {
    const [problem = null] = this.#insertProblems.values();
    return problem?.message ?? null;
  }

  /** Operations that were begun and are not done, those waiting in line included. */
  get underWay(): number {
    return this.#underWay;
  }

  async query(sql: string): Promise<readonly Row[]> {
    return this.#measured("query", () => this.#engine.query(sql));
  }

  async queryNative(sql: string): Promise<Buffer> {
    return this.#measured("query", () => this.#engine.queryNative(sql));
  }

  async command(sql: string): Promise<void> {
    return this.#counted(() => this.#engine.command(sql));
  }

  async deleteRows(table: string, where: string): Promise<void> {
    return this.#counted(() => this.#engine.deleteRows(table, where));
  }

  async openRows(): Promise<SpoolFile> {
    return this.#engine.openRows();
  }

  async insert(table: string, rows: Rows, token?: string): Promise<void> {
    // An engine has nothing to do for no rows, and that must not pass for a fast insert.
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
      const result = await this.#counted(run);
      this.latencies[operation].observe({}, systemClock.monotonicMs() - startedAtMs);
      return result;
    } catch (thrown) {
      this.failures.add(operation);
      throw thrown;
    }
  }

  /** Without a cause it was refused because too many wait, and is repeated shortly. */
  #noteInsertFailure(table: string, thrown: unknown): void {
    if (!(thrown instanceof AppError) || thrown.cause === undefined) return;
    if (this.#insertProblems.size === 0) this.#onInsertsFailing(toError(thrown.cause).message);
    this.#insertProblems.set(table, thrown);
  }

  async #counted<Result>(run: () => Promise<Result>): Promise<Result> {
    this.#underWay += 1;
    try {
      return await run();
    } finally {
      this.#underWay -= 1;
    }
  }
}
