/** GET /v1/trades/market/{token_id}: of one token, with those of its complement inverted. */
import { busiestToken, client } from "./connect.ts";

const query = { include_complement: true, limit: 10 };
const { data } = await client.tokenTrades(await busiestToken(), query).page();
for (const { side, size, price, match_type } of data) {
  console.log(`${side} ${size} at ${price} (${match_type})`);
}
