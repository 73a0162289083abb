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
import { FinalView } from "../final-view.ts";

/**
 * The candles of the minute that the coverage ends in. The engine has them too, but only the minutes before are
 * complete there: reads take this one from here and the others from there, so that an append in between is not
 * counted twice.
 */
export class OpenMinutes extends FinalView {
  #candles: readonly MinuteCandle[] = [];

  get candles(): readonly MinuteCandle[] {
    return this.#candles;
  }

  override async load({ engine }: CoveredFacts, coverage: Coverage): Promise<void> {
    const fills = await readStoredFills(
      engine,
      "fills",
      `WHERE timestamp >= ${integerLiteral(minuteOf(coverage.last.timestamp))}
         AND seq < ${integerLiteral(firstSeqAbove(coverage))}`,
    );
    this.#candles = deriveMinuteCandles(fills);
  }

  protected override take({ candles, last }: Delta): void {
    const openFrom = minuteOf(last.timestamp);
    const open = new MinuteCandles();
    for (const candle of [...this.#candles, ...candles]) {
      if (candle.minute >= openFrom) open.merge(candle);
    }
    this.#candles = open.values();
  }
}
