/** Starts a server, prints its address and kills itself. */
import { writeSync } from "node:fs";
import { test } from "node:test";
import { ClickHouseServer } from "./clickhouse-server.ts";

test("dies", async (t) => {
  const { url } = await ClickHouseServer.open(t);
  writeSync(1, url);
  process.kill(process.pid, "SIGKILL");
});
