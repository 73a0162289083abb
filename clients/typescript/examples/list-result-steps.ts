/** GET /v1/markets/{id}/resolution: how a market got its result. */
import { client } from "./connect.ts";

const [market] = (await client.markets({ status: "resolved", limit: 1 }).page()).data;
if (market === undefined) throw new Error("no market is resolved yet");
for await (const step of client.resultSteps(market.id))
  console.log(step.timestamp, step.kind, step.price, step.account);
