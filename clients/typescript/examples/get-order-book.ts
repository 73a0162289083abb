/** GET /v1/orderbook/{token_id}: what stands in the book; only where the service has a book source. */
import { busiestToken, client } from "./connect.ts";

const { bids, asks, spread, stale } = await client.orderBook(await busiestToken(), { depth: 10 });
for (const { price, size } of asks.toReversed()) console.log(`${price} ${size} ask`);
console.log(`spread ${spread}${stale ? ", and the book may be out of date" : ""}`);
for (const { price, size } of bids) console.log(`${price} ${size} bid`);
