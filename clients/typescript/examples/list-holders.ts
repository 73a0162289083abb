/** GET /v1/markets/{id}/holders: who holds a market. */
import { client } from "./connect.ts";

const [market] = (await client.markets({ limit: 1 }).page()).data;
if (market === undefined) throw new Error("there is no market yet");
const { data, meta } = await client.holders(market.id, { limit: 5 }).page();
for (const { rank, address, outcome, size } of data) console.log(rank, address, outcome, size);
for (const { outcome, supply, holders } of meta.outcomes) console.log(outcome, supply, holders);
