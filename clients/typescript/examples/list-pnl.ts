/** GET /v1/wallets/{address}/pnl: what one wallet earned on each day. */
import { client } from "./connect.ts";

const [trade] = (await client.trades({ limit: 1 }).page()).data;
if (trade === undefined) throw new Error("no one has traded yet");
for await (const day of client.pnl(trade.maker))
  console.log(day.timestamp, day.realized_pnl, day.cumulative_realized_pnl);
