/** GET /v1/price/{token_id}: the price now, and what the last 24 hours were. */
import { busiestToken, client } from "./connect.ts";

const { price, price_source, stats_24h, complement } = await client.price(await busiestToken());
console.log(`${price} (${price_source}); the other outcome ${complement?.price}`);
console.log(`24 h: ${stats_24h.low} to ${stats_24h.high}, ${stats_24h.volume_usd} USD`);
