/** GET /v1/price/{token_id}?at=: the price as it was, without what came later. */
import { busiestToken, client } from "./connect.ts";

const tokenId = await busiestToken();
const [first] = (await client.tokenTrades(tokenId, { order: "asc", limit: 1 }).page()).data;
const { price, as_of } = await client.priceAt(tokenId, first?.seq ?? 0);
console.log(`${price} at ${as_of?.timestamp}`);
const [past] = await client.pricesAt([tokenId], first?.timestamp ?? 0);
console.log(`${past?.price} at the end of that second`);
