/** GET /v1/categories: categories of markets, the most traded first. */
import { client } from "./connect.ts";

const { data } = await client.categories({ limit: 10 }).page();
for (const { name, market_count } of data) console.log(`${name}: ${market_count} markets`);
console.log(`${data.length} categories`);
