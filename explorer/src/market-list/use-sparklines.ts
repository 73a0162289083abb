import type { Market } from "../../../clients/typescript/src/api.ts";
import type { OddwireClient } from "../../../clients/typescript/src/client.ts";
import { candlesQuery, getWindow, toBuckets } from "../charts/buckets.ts";
import { toLine, withSettlement } from "../charts/lines.ts";
import { ledgerTokens } from "../service/ledgers.ts";
import { isPublic } from "../service/session.ts";
import { useResource } from "../service/use-resource.ts";

/** Prices of the last 24 hours, oldest first, from the first trade on. */
type Line = readonly number[];

const dayMs = 86_400_000;
/** The most tokens of a request. */
const tokensMax = 50;
const freshMs = 45_000;
/** Without a key, requests count toward the IP's rate limit, which the page itself needs. */
const publicFreshMs = 300_000;
const rememberedMax = 2000;
/** Lines by market, so that rows which stay in a changing list keep theirs. */
const remembered = new Map<string, Line>();

/** Returns the lines of markets by id, without those that are not read yet. One request reads those of 50 markets. */
export function useSparklines(markets: readonly Market[]): ReadonlyMap<string, Line> {
  const traded = markets.filter((market) => market.trades_24h > 0);
  const name = traded.length === 0 ? null : `lines ${traded.map(({ id }) => id).join()}`;
  const everyMs = isPublic.value ? publicFreshMs : freshMs;
  useResource(name, async (using) => readLines(using, traded), { everyMs });
  return new Map(
    markets.flatMap(({ id, trades_24h: trades }) => {
      const line = remembered.get(id) ?? (trades === 0 ? [] : undefined);
      return line === undefined ? [] : [[id, line] as const];
    }),
  );
}

/** Reads and remembers the lines of markets. Returns when. */
async function readLines(using: OddwireClient, markets: readonly Market[]): Promise<number> {
  const nowMs = Date.now();
  const life = { firstMs: nowMs - dayMs, endMs: nowMs };
  const window = getWindow({ range: "1D", form: "sparkline", chosen: null, ...life });
  for (let at = 0; at < markets.length; at += tokensMax) {
    const some = markets.slice(at, at + tokensMax);
    const tokenIds = some.flatMap((market) => ledgerTokens(market)[0]?.id ?? []);
    const { limit: _, ...query } = candlesQuery(window, null);
    const series = await using.manyCandles(tokenIds, query);
    const byToken = new Map(series.map((one) => [one.token_id, one.candles]));
    if (remembered.size > rememberedMax) remembered.clear();
    for (const market of some) {
      const candles = byToken.get(ledgerTokens(market)[0]?.id ?? "") ?? [];
      const line = withSettlement(toLine(toBuckets(window, candles, nowMs)), market);
      // A young market would be a dot at the right end.
      const closes = line.map(({ close }) => close).filter((close) => close !== null);
      remembered.set(market.id, closes);
    }
  }
  return nowMs;
}
