import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { AppError, toError } from "../../../src/base/errors.ts";
import { RedisConnection } from "../../../src/base/redis/redis-connection.ts";
import { cleanUp } from "../clean-up.ts";
import { runProgram } from "../run-command.ts";
import { waitFor } from "../wait-for.ts";
import { RedisServer } from "./redis-server.ts";

const log = pino({ level: "silent" });

test("a connection answers, throws SERVICE_UNAVAILABLE while Redis is down, and reconnects", async (t) => {
  const server = await RedisServer.open(t);
  const redis = await RedisConnection.open({ url: server.url, log });
  cleanUp(t, () => redis.close());
  assert.equal(redis.isUp, true);
  const before = redis.downSeconds;
  await redis.run((client) => client.set("name", "value"));
  assert.equal(await redis.run((client) => client.get("name")), "value");
  await server.kill();
  await waitFor("the loss", async () => (redis.isUp ? null : true));
  await assert.rejects(
    redis.run((client) => client.get("name")),
    { name: "AppError", code: "SERVICE_UNAVAILABLE" },
  );
  await server.restart();
  await waitFor("the connection", async () => (redis.isUp ? true : null));
  assert.equal(await redis.run((client) => client.get("name")), null);
  assert(redis.downSeconds > before);
});

test("a command fails after its timeout when Redis does not answer", async (t) => {
  const server = await RedisServer.open(t);
  const redis = await RedisConnection.open({ url: server.url, log });
  cleanUp(t, () => redis.close());
  server.pause();
  await assert.rejects(
    redis.run((client) => client.get("name"), 50),
    (error: Error) =>
      error instanceof AppError &&
      error.code === "SERVICE_UNAVAILABLE" &&
      toError(error.cause).message === "Redis has not answered within 50 ms",
  );
  server.resume();
  assert.equal(await redis.run((client) => client.ping(), 60_000), "PONG");
});

test("an answer that arrives while the process is busy is in time", async (t) => {
  const { url } = await RedisServer.open(t);
  const redis = await RedisConnection.open({ url, log });
  cleanUp(t, () => redis.close());
  const answer = redis.run((client) => client.ping(), 1_000);
  // The command is written in the next turn of the event loop.
  setImmediate(() => {
    const until = performance.now() + 3_000;
    while (performance.now() < until);
  });
  assert.equal(await answer, "PONG");
});

test("a connection can be opened without Redis, and connects once Redis runs", async (t) => {
  const server = await RedisServer.open(t);
  await server.kill();
  const redis = await RedisConnection.open({ url: server.url, log });
  cleanUp(t, () => redis.close());
  assert.equal(redis.isUp, false);
  await server.restart();
  await waitFor("the connection", async () => (redis.isUp ? true : null));
});

test("a server ends when the process that started it is killed", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  const program = fileURLToPath(new URL("open-and-die.ts", import.meta.url));
  const { stdout } = await runProgram(process.execPath, [program], { TMPDIR: folder });
  assert.match(stdout, /^redis:\/\/127\.0\.0\.1:[0-9]+$/);
  const redis = await RedisConnection.open({ url: stdout, log });
  cleanUp(t, () => redis.close());
  await waitFor("the end of the server", async () => (redis.isUp ? null : true));
});
