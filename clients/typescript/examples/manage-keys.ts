/** The life of a key: POST, GET and DELETE /v1/keys; needs a key of scope admin. */
import { OddwireClient } from "../src/client.ts";
import { client, connection } from "./connect.ts";

const name = `example ${new Date().toISOString()}`;
const made = await client.createKey({ name, scope: "read" });
console.log(`made ${made.prefix}`);

const reader = new OddwireClient({ url: connection.url, key: made.key });
await reader.trades({ limit: 1 }).page();

const rotated = await client.rotateKey(made.id, { grace_seconds: 60 });
console.log(`now ${rotated.prefix}, the old value works for a minute`);

console.log((await client.revokeKey(made.id)).message);
console.log((await client.key(made.id)).status);
for await (const { prefix, status, request_count } of client.keys()) {
  console.log(prefix, status, request_count);
}
