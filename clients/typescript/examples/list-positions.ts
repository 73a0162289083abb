/** GET /v1/wallets/{address}/positions: what one wallet holds. */
import { client } from "./connect.ts";

const [trade] = (await client.trades({ limit: 1 }).page()).data;
if (trade === undefined) throw new Error("no one has traded yet");
const { data } = await client.positions(trade.maker, { status: "all", limit: 5 }).page();
for (const row of data) console.log(row.question, row.outcome, row.size, row.total_pnl);
