/** GET /v1/stats: the trades, volume and fees of the platform, by day. */
import { client } from "./connect.ts";

for await (const day of client.stats())
  console.log(day.timestamp, day.trades, day.volume_usd, day.fees_usd);
