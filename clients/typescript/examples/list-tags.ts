/** GET /v1/tags: tags of markets, the most traded first. */
import { client } from "./connect.ts";

const { data } = await client.tags({ limit: 10 }).page();
for (const { name, open_market_count } of data)
  console.log(`${name}: ${open_market_count} open markets`);
console.log(`${data.length} tags`);
