/** GET /v1/health: whether the process lives; needs no key. */
import { client } from "./connect.ts";

const { status, version, uptime_seconds } = await client.health();
console.log(`${status}: version ${version}, up for ${uptime_seconds} s`);
