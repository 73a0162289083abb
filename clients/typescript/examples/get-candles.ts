/** GET /v1/candles/{token_id}: every hour since the first trade, those without one filled. */
import { busiestToken, client } from "./connect.ts";

const candles = client.candles(await busiestToken(), { resolution: "1h", fill: "previous" });
for await (const { timestamp, open, high, low, close, volume_shares } of candles) {
  console.log(timestamp, open, high, low, close, volume_shares);
}
