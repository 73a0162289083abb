/** GET /v1/fills: the logs themselves, both legs of each match. */
import { client } from "./connect.ts";

const { data } = await client.fills({ limit: 10 }).page();
for (const { role, order_hash, maker_amount_raw, taker_amount_raw } of data) {
  console.log(`${role} ${order_hash}: ${maker_amount_raw} for ${taker_amount_raw}`);
}
