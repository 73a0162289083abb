/** GET /v1/wallets/{address}/activity: what one wallet did. */
import { client } from "./connect.ts";

const [trade] = (await client.trades({ limit: 1 }).page()).data;
if (trade === undefined) throw new Error("no one has traded yet");
const { data } = await client.activity(trade.maker, { limit: 5 }).page();
for (const row of data) console.log(row.timestamp, row.kind, row.question, row.cash_usd);
