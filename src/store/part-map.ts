/**
 * Which large parts of `fills` cannot hold what is asked for. The engine looks into every part for the
 * rows of a token, 0.9 ms each, though a part is a stretch of the chain and most tokens are traded in
 * one. What is said of a part stays true: a part never changes, and what is merged gets another name.
 * So a map that is old rules out fewer parts, and never one with rows that are asked for.
 */
import { systemClock } from "../base/clock.ts";
import { storeLimits } from "../base/limits.ts";
import type { Engine } from "./engine.ts";
import { fewRowsSettings } from "./few-rows-settings.ts";
import { integerLiteral, listLiteral, wordLiteral } from "./sql-literal.ts";

/** A stretch of the chain: positions `from` inclusive, `to` exclusive. */
export type Span = { readonly from: number; readonly to: number };

/** When something happened for the first and the last time. Unix seconds, both inclusive. */
export type Times = { readonly firstTimestamp: number; readonly lastTimestamp: number };

type Part = Span & Times & { readonly name: string };

export class PartMap {
  readonly #engine: Engine;
  /** In the order of the chain. */
  #parts: readonly Part[] = [];
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The parts that may hold rows of a span and of a time, in the order of the chain. */
  within(span: Span, times: Times): readonly (Span & Times)[] {
    this.#refresh();
    return this.#parts.filter((part) => meets(part, span, times));
  }

  /** For a `WHERE` over `fills`, in front of other conditions: leaves the other parts out. */
  sqlWithin(span: Span, times: Times): string {
    const names = this.#parts.filter((part) => !meets(part, span, times)).map(({ name }) => name);
    return names.length === 0 ? "" : `_part NOT IN ${listLiteral(names.map(wordLiteral))} AND`;
  }

  /** Reads the parts with so many rows as there are now. */
  async read(rowsMin: number): Promise<void> {
    // Both are told without reading the columns.
    const rows = await this.#engine.query(
      `SELECT _part, min(seq) AS first, max(seq) AS last FROM oddwire.fills
       GROUP BY _part HAVING count() >= ${integerLiteral(rowsMin)} ORDER BY first`,
    );
    const ends = rows.flatMap(([, first, last]) => [Number(first), Number(last)]);
    const timeAt = await this.#timesAt(ends);
    this.#parts = rows.flatMap(([name, first, last]) => {
      const [firstTimestamp, lastTimestamp] = [timeAt.get(Number(first)), timeAt.get(Number(last))];
      if (firstTimestamp === undefined || lastTimestamp === undefined) return [];
      const span = { from: Number(first), to: Number(last) + 1 };
      return [{ name: String(name), ...span, firstTimestamp, lastTimestamp }];
    });
  }

  /** Resolves when nothing is being read. */
  async close(): Promise<void> {
    this.#readAtMs = Number.POSITIVE_INFINITY;
    await this.#reading;
  }

  async #timesAt(seqs: readonly number[]): Promise<ReadonlyMap<number, number>> {
    if (seqs.length === 0) return new Map();
    const wanted = listLiteral(seqs.map(integerLiteral));
    const rows = await this.#engine.query(
      `SELECT seq, timestamp FROM oddwire.fills WHERE seq IN ${wanted} ${fewRowsSettings}`,
    );
    return new Map(rows.map(([seq, timestamp]) => [Number(seq), Number(timestamp)]));
  }

  /** Nobody waits for it: without it what is asked for is found too. */
  #refresh(): void {
    const { partsKeptMs, partRowsMin } = storeLimits;
    if (systemClock.monotonicMs() < this.#readAtMs + partsKeptMs) return;
    this.#readAtMs = systemClock.monotonicMs();
    this.#reading ??= this.read(partRowsMin)
      // What is wrong with the store is told to those who have to know.
      .catch(() => {})
      .finally(() => {
        this.#reading = null;
      });
  }
}

/** Whether a part may have something of a span and of a time. */
export function meets(
  part: Span & Times,
  { from, to }: Span,
  { firstTimestamp, lastTimestamp }: Times,
): boolean {
  const isInSpan = part.from < to && part.to > from;
  return isInSpan && part.firstTimestamp <= lastTimestamp && part.lastTimestamp >= firstTimestamp;
}
