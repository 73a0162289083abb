/** GET /v1/transactions/{tx_hash}: all that one transaction did. */
import { client } from "./connect.ts";

const [trade] = (await client.trades({ limit: 1 }).page()).data;
if (trade === undefined) throw new Error("no one has traded yet");
const { tx_hash, trades, matches } = await client.transaction(trade.tx_hash);
console.log(tx_hash, trades.length, matches.length);
