/** GET /v1/markets/{id}: by condition id, token id or slug. */
import { busiestToken, client } from "./connect.ts";

const market = await client.market(await busiestToken());
console.log(`${market.question ?? market.id} is ${market.status}, ${market.trades} trades so far`);
