/** GET /v1/open-interest: the collateral behind all positions, by day. */
import { client } from "./connect.ts";

for await (const day of client.totalOpenInterest())
  console.log(day.timestamp, day.open_interest_usd, day.protocol_v2_usd);
