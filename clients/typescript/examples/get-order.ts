/** GET /v1/orders/{order_hash}: all fills of an order, and what ended it. */
import { client } from "./connect.ts";

const [newest] = (await client.fills({ limit: 1 }).page()).data;
if (newest === undefined) throw new Error("no fill is known yet");
console.log(JSON.stringify(await client.order(newest.order_hash), null, 2));
