/** Starts a Redis server, prints its address and kills itself. */
import { writeSync } from "node:fs";
import { RedisServer } from "./redis-server.ts";

const { url } = await RedisServer.start();
writeSync(1, url);
process.kill(process.pid, "SIGKILL");
