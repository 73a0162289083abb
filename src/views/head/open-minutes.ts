import type { Delta } from "../../market/delta.ts";
import {
  deriveMinuteCandles,
  type MinuteCandle,
  MinuteCandles,
  minuteOf,
} from "../../market/minute-candle.ts";
import type { CoveredFacts } from "../../storage/covered-facts.ts";
import { type Coverage, firstSeqAbove } from "../../storage/recover.ts";
import { integerLiteral } from "../../storage/sql-literal.ts";
import { readStoredFills } from "../../storage/stored-fills.ts";
import type { View } from "../view.ts";

/**
 * The candles of the open minute, in which the coverage ends. The engine has them too, but only earlier minutes are
 * complete there. Reads take the open minute from here and earlier ones from the engine, so that an append between
 * the two reads is not counted twice. Unfinalized blocks wait here until they are final.
 */
export class OpenMinutes implements View {
  #candles: readonly MinuteCandle[] = [];
  #pending: readonly Delta[] = [];

  get candles(): readonly MinuteCandle[] {
    return this.#candles;
  }

  apply(delta: Delta): void {
    if (delta.isFinal) this.#add(delta);
    else this.#pending = [...this.#pending, delta];
  }

  revert(toBlock: number): void {
    this.#pending = this.#pending.filter(({ last }) => last.number <= toBlock);
  }

  finalize(toBlock: number): void {
    const final = this.#pending.filter(({ last }) => last.number <= toBlock);
    this.#pending = this.#pending.slice(final.length);
    for (const delta of final) this.#add(delta);
  }

  async load({ engine }: CoveredFacts, coverage: Coverage): Promise<void> {
    const fills = await readStoredFills(
      engine,
      "fills",
      `WHERE timestamp >= ${integerLiteral(minuteOf(coverage.last.timestamp))}
         AND seq < ${integerLiteral(firstSeqAbove(coverage))}`,
    );
    this.#candles = deriveMinuteCandles(fills);
  }

  #add({ candles, last }: Delta): void {
    const openFrom = minuteOf(last.timestamp);
    const open = new MinuteCandles();
    for (const candle of [...this.#candles, ...candles]) {
      if (candle.minute >= openFrom) open.merge(candle);
    }
    this.#candles = open.values();
  }
}
