import { KindCounts } from "../base/metrics/kind-counts.ts";

/** The kinds of questions that reads answer. */
export type Question =
  | "price"
  | "market"
  | "markets"
  | "market_events"
  | "wallet"
  | "search"
  | "resolutions"
  | "trades"
  | "candles"
  | "events";

/** Where an answer comes from, in the order in which sources are asked. */
export type ReadSource = "views" | "head" | "engine";

/** Counts the answers to each question, by the last source that was needed. */
export class QueryReads {
  readonly #counts = new Map<Question, KindCounts<ReadSource>>();

  add(question: Question, source: ReadSource): void {
    const counts = this.#counts.get(question) ?? new KindCounts<ReadSource>();
    this.#counts.set(question, counts);
    counts.add(source);
  }

  toRows(): { question: Question; source: string; answers: number }[] {
    return [...this.#counts].flatMap(([question, counts]) =>
      Object.entries(counts.toRecord()).map(([source, answers]) => ({ question, source, answers })),
    );
  }
}
