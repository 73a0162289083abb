import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { cleanUp } from "../clean-up.ts";
import { runProgram } from "../run-command.ts";
import { waitFor } from "../wait-for.ts";
import { ClickHouseServer, clusterName, passwordUser } from "./clickhouse-server.ts";

const table = "CREATE TABLE numbers (number UInt64) ENGINE = MergeTree ORDER BY number";

test("a server answers over HTTP, and has the same rows and address after it was killed and restarted", async (t) => {
  const server = await ClickHouseServer.open(t);
  assert.match(await server.ask("SELECT version()"), /^26\.7\./);
  await server.ask(`${table} SETTINGS fsync_after_insert = 1`);
  await server.ask("INSERT INTO numbers VALUES (7)");
  const { url } = server;
  await server.kill();
  await assert.rejects(server.ask("SELECT 1"), TypeError);
  await server.restart();
  assert.equal(server.url, url);
  assert.equal(await server.ask("SELECT number FROM numbers"), "7");
});

test("a server accepts a user only with the right password", async (t) => {
  const server = await ClickHouseServer.open(t);
  const { user, password } = passwordUser;
  const ask = async (given: string): Promise<Response> => {
    const headers = { "x-clickhouse-user": user, "x-clickhouse-key": given };
    return fetch(`${server.url}/?query=SELECT currentUser()`, { headers });
  };
  assert.equal((await (await ask(password)).text()).trim(), user);
  assert.equal((await ask("wrong")).status, 403);
});

test("a paused server answers once it is resumed", async (t) => {
  const server = await ClickHouseServer.open(t);
  server.pause();
  let isAnswered = false;
  const answer = server.ask("SELECT 1").finally(() => {
    isAnswered = true;
  });
  const signal = AbortSignal.timeout(500);
  await assert.rejects(fetch(`${server.url}/ping`, { signal }), { name: "TimeoutError" });
  assert.equal(isAnswered, false);
  server.resume();
  assert.equal(await answer, "1");
});

test("two shards hold the rows of one distributed table", async (t) => {
  const shards = await ClickHouseServer.openShards(t, 2);
  const [first] = shards;
  assert(first !== undefined);
  for (const shard of shards) await shard.ask(table);
  const engine = `Distributed('${clusterName}', 'default', 'numbers', number)`;
  await first.ask(`CREATE TABLE all AS numbers ENGINE = ${engine}`);
  await first.ask(
    "INSERT INTO all SETTINGS distributed_foreground_insert = 1 SELECT number FROM numbers(100)",
  );
  assert.equal(await first.ask("SELECT count(), sum(number) FROM all"), "100\t4950");
  for (const shard of shards) assert.equal(await shard.ask("SELECT count() FROM numbers"), "50");
});

test("a server ends when the process that started it is killed", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  const program = fileURLToPath(new URL("open-and-die.ts", import.meta.url));
  const { stdout } = await runProgram(process.execPath, [program], { TMPDIR: folder });
  assert.match(stdout, /^http:\/\/127\.0\.0\.1:[0-9]+$/);
  await waitFor("the end of the server", async () => {
    try {
      await fetch(`${stdout}/ping`, { signal: AbortSignal.timeout(1000) });
      return null;
    } catch {
      return true;
    }
  });
});
