/** GET /v1/candles: the newest candles of several tokens. */
import { client } from "./connect.ts";

const { data } = await client.markets({ sort: "volume", status: "all", limit: 5 }).page();
const tokenIds = data.flatMap(({ tokens }) => tokens.slice(0, 1).map(({ token_id }) => token_id));
const series = await client.manyCandles(tokenIds, { resolution: "1d", limit: 7 });
for (const { token_id, candles } of series) {
  console.log(`${token_id.slice(0, 8)} ${candles.map(({ close }) => close).join(" ")}`);
}
console.log(`${series.length} tokens`);
