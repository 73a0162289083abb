/** GET /v1/markets/{id}/open-interest: the open interest of a market, by day. */
import { client } from "./connect.ts";

const [market] = (await client.markets({ limit: 1 }).page()).data;
if (market === undefined) throw new Error("there is no market yet");
for await (const day of client.openInterest(market.id))
  console.log(day.timestamp, day.supply, day.open_interest_usd);
