/** GET /v1/resolutions: how markets ended. */
import { client } from "./connect.ts";

const { data } = await client.resolutions({ limit: 10 }).page();
for (const { condition_id, winning_outcome, payouts } of data) {
  console.log(`${condition_id}: ${winning_outcome ?? payouts.join(" / ")}`);
}
console.log(`${data.length} resolutions`);
