/** GET /v1/trades: every trade, oldest first, page by page; each once. */
import { client } from "./connect.ts";

let count = 0;
for await (const { side, size, price, outcome, timestamp } of client.trades({ order: "asc" })) {
  count += 1;
  console.log(`${timestamp} ${side} ${size} ${outcome} at ${price}`);
  if (count === 250) break;
}
