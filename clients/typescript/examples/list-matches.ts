/** GET /v1/matches: what each taker's order got in all. */
import { client } from "./connect.ts";

const { data } = await client.matches({ limit: 10 }).page();
for (const { side, size, price, legs } of data) {
  console.log(`${side} ${size} at ${price} from ${legs} legs`);
}
