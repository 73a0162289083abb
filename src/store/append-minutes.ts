import { deriveMinuteCandles } from "../market/minute-candle.ts";
import { encodeMinuteCandles } from "./encode-facts.ts";
import type { Engine } from "./engine.ts";
import { readStoredFills } from "./stored-fills.ts";

/** Makes the minute candles of the stored fills that a condition selects, and appends them. */
export async function appendMinutesOf(engine: Engine, where: string): Promise<void> {
  const candles = deriveMinuteCandles(await readStoredFills(engine, "fills", `WHERE ${where}`));
  await engine.insert("oddwire.minute_candles", encodeMinuteCandles(candles));
}
