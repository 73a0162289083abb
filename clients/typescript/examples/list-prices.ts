/** GET /v1/price: the prices of up to 100 tokens in one request. */
import { client } from "./connect.ts";

const markets = (await client.markets({ limit: 20, status: "all" }).page()).data;
const tokenIds = markets.flatMap(({ tokens }) => tokens.map(({ token_id }) => token_id));
for (const { token_id, price } of await client.prices(tokenIds)) {
  console.log(`${token_id.slice(0, 8)} ${price}`);
}
