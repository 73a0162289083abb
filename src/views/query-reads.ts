import { KindCounts } from "../base/metrics/kind-counts.ts";

/** The kinds of queries that are counted. */
export type QueryKind =
  | "price"
  | "market"
  | "markets"
  | "market_events"
  | "labels"
  | "wallet"
  | "search"
  | "resolutions"
  | "trades"
  | "candles"
  | "events"
  | "activity"
  | "holders"
  | "open_interest"
  | "stats";

/** Where an answer comes from, in the order in which sources are asked. */
export type ReadSource = "views" | "head" | "engine";

/** Counts the answers to each kind of query, by the last source that was needed. */
export class QueryReads {
  readonly #counts = new Map<QueryKind, KindCounts<ReadSource>>();

  add(query: QueryKind, source: ReadSource): void {
    const counts = this.#counts.get(query) ?? new KindCounts<ReadSource>();
    this.#counts.set(query, counts);
    counts.add(source);
  }

  toRows(): { query: QueryKind; source: string; answers: number }[] {
    return [...this.#counts].flatMap(([query, counts]) =>
      Object.entries(counts.toRecord()).map(([source, answers]) => ({ query, source, answers })),
    );
  }
}
