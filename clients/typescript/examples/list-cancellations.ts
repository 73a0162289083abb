/** GET /v1/cancellations: orders that were canceled on the chain. */
import { client } from "./connect.ts";

const { data } = await client.cancellations({ limit: 10 }).page();
for (const { kind, order_hash, user } of data) console.log(`${kind} ${order_hash ?? user}`);
console.log(`${data.length} cancellations`);
