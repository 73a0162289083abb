/** GET /v1/ip-blocks and DELETE /v1/ip-blocks/{ip}; needs a key of scope admin. */
import { client } from "./connect.ts";

let count = 0;
for await (const { ip, reason, blocked_until } of client.ipBlocks()) {
  count += 1;
  console.log(`${ip} until ${blocked_until}: ${reason}`);
  if (reason === "failed_authentication") console.log((await client.unblockIp(ip)).message);
}
console.log(`${count} IPs were blocked`);
