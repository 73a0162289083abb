/** GET /v1/exchange-events: what exchanges log besides fills. */
import { client } from "./connect.ts";

const { data } = await client.exchangeEvents({ limit: 10 }).page();
for (const { kind, timestamp } of data) console.log(`${timestamp} ${kind}`);
console.log(`${data.length} events`);
