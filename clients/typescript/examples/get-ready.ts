/** GET /v1/ready: whether the chain is followed closely; needs no key. */
import { client } from "./connect.ts";

const { status, checks } = await client.ready();
console.log(status);
for (const [name, { ok, detail }] of Object.entries(checks)) {
  console.log(`${ok ? "ok " : "NOT"} ${name}: ${detail}`);
}
