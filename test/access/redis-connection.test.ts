import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../../src/base/errors.ts";
import { RedisConnection } from "../../src/base/redis.ts";
import { cleanUp } from "../support/clean-up.ts";
import { RedisServer } from "../support/redis/redis-server.ts";
import { silentLog } from "../support/silent-log.ts";

const timeoutMs = 200;

test("an answer that arrives while the process is busy is in time", async (t) => {
  const { url } = await RedisServer.open(t);
  const redis = await RedisConnection.open({ url, log: silentLog });
  cleanUp(t, () => redis.close());
  for (let round = 0; round < 3; round += 1) {
    const answer = redis.run((client) => client.ping(), timeoutMs);
    // The command is written in the next turn of the event loop.
    setImmediate(() => {
      const until = performance.now() + 2 * timeoutMs;
      while (performance.now() < until);
    });
    assert.equal(await answer, "PONG");
  }
});

test("without an answer a command fails after its timeout", async (t) => {
  const server = await RedisServer.open(t);
  const redis = await RedisConnection.open({ url: server.url, log: silentLog });
  cleanUp(t, () => redis.close());
  server.pause();
  await assert.rejects(
    redis.run((client) => client.ping(), timeoutMs),
    (thrown) => thrown instanceof AppError && thrown.code === "SERVICE_UNAVAILABLE",
  );
  server.resume();
});
