/** GET /v1/events and /v1/events/{id}: the events with the highest volume, and one of them. */
import { client } from "./connect.ts";

const page = await client.events({ sort: "volume", limit: 5 }).page();
for (const { id, title, markets, price_sum } of page.data) {
  console.log(id, title, `${markets.length} markets`, price_sum);
}
const [first] = page.data;
if (first !== undefined) console.log((await client.event(first.id)).volume_usd);
