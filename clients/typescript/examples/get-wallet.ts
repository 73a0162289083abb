/** GET /v1/wallets/{address}: what one wallet has traded. */
import { client } from "./connect.ts";

const [trade] = (await client.trades({ limit: 1, include: "market" }).page()).data;
if (trade === undefined) throw new Error("no one has traded yet");
const wallet = await client.wallet(trade.maker);
console.log(wallet.address, wallet.trades, wallet.volume_usd, wallet.top_markets[0]?.question);
