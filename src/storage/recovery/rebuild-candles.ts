import { toTrades } from "../../market/fill.ts";
import { deriveMinuteCandles } from "../../market/minute-candle.ts";
import { encodeMinuteCandles } from "../codec/encode-facts.ts";
import { deleteRows } from "../engine/delete-rows.ts";
import type { Engine } from "../engine/engine.ts";
import { readStoredFills } from "../stored-fills.ts";

/** The candles to derive again, as SQL conditions: `minutes` and `hours` on `minute`, `fills` on columns of `fills`. */
export type CandlesToRebuild = {
  readonly minutes: string;
  readonly hours: string;
  readonly fills: string;
};

/** Deletes candles of minutes and of their hours, and derives them again from the stored fills. */
export async function rebuildCandles(
  engine: Engine,
  { minutes, hours, fills }: CandlesToRebuild,
): Promise<void> {
  await deleteRows(engine, "minute_candles", minutes);
  const trades = toTrades(await readStoredFills(engine, "fills", `WHERE ${fills}`));
  await engine.insert("minute_candles", encodeMinuteCandles(deriveMinuteCandles(trades)));
  await deleteRows(engine, "hour_candles", hours);
  await engine.command(`INSERT INTO hour_candles SELECT * FROM minute_candles WHERE ${hours}`);
}
