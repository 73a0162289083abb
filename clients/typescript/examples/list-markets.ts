/** GET /v1/markets: the open markets that were traded most in the last 24 hours. */
import { client } from "./connect.ts";

const { data } = await client.markets({ status: "open", sort: "volume_24h", limit: 5 }).page();
for (const { question, tokens, volume_24h_usd } of data) {
  const prices = tokens.map(({ outcome, price }) => `${outcome} ${price}`).join(", ");
  console.log(`${question}: ${prices}; ${volume_24h_usd} USD today`);
}
