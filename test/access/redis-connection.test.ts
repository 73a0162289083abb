/** The connection to Redis through a proxy that stops responding. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { redisLimits } from "../../src/base/config/cluster-limits.ts";
import { RedisConnection } from "../../src/base/redis/redis-connection.ts";
import { cleanUp } from "../support/clean-up.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { RedisServer } from "../support/redis/redis-server.ts";
import { silentLog } from "../support/silent-log.ts";
import { waitFor, waitMsMax } from "../support/wait-for.ts";

suite("a silent connection is replaced", { concurrency: true }, () => {
  for (const isBusy of [false, true]) {
    test(isBusy ? "with commands every 100 ms" : "without commands", async (t) => {
      const redis = await RedisServer.open(t);
      const proxy = await CuttingProxy.open(t, redis.url);
      const url = proxy.url.replace("http", "redis");
      const connection = await RedisConnection.open({ url, log: silentLog });
      cleanUp(t, () => connection.close());
      const received: string[] = [];
      await connection.run((client) => client.subscribe("changes", (text) => received.push(text)));

      proxy.stall();
      await waitFor("the end of the silent connection", async () => {
        if (isBusy) connection.run((client) => client.get("one")).catch(() => {});
        await pause(100);
        return connection.isUp ? null : true;
      });
      proxy.resume();
      await waitFor("another connection", async () => (connection.isUp ? true : null));
      assert.equal(await connection.run((client) => client.publish("changes", "two")), 1);
      await waitFor("the message", async () => (received.includes("two") ? true : null));
    });
  }
});

test("closing a connection logs nothing, also while a ping is not answered", async (t) => {
  const redis = await RedisServer.open(t);
  const observer = await RedisConnection.open({ url: redis.url, log: silentLog });
  cleanUp(t, () => observer.close());
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line) => lines.push(line) });
  const connection = await RedisConnection.open({ url: redis.url, log });
  const asking = connection.run((client) => client.blPop("nothing", 60), waitMsMax);
  // The ping waits behind the other command.
  await waitFor("a ping", async () => {
    const list = await observer.run((client) => client.sendCommand<string>(["CLIENT", "LIST"]));
    return /qbuf=[1-9].* cmd=blpop/.test(list) ? true : null;
  });
  lines.length = 0;
  connection.close();
  await assert.rejects(asking, { code: "SERVICE_UNAVAILABLE" });
  assert.deepEqual(lines, []);
});

test("closing during a reconnect leaves no socket open", async (t) => {
  const redis = await RedisServer.open(t);
  const open = () => RedisConnection.open({ url: redis.url, log: silentLog });
  const observer = await open();
  cleanUp(t, () => observer.close());
  const clients = async () => {
    const list = await observer.run((client) => client.sendCommand<string>(["CLIENT", "LIST"]));
    return list.trim().split("\n").length;
  };
  for (let waitMs = 0; waitMs < 100; waitMs += 5) {
    const connections = await Promise.all(Array.from({ length: 20 }, open));
    await observer.run((client) =>
      client.sendCommand(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]),
    );
    await pause(waitMs);
    for (const connection of connections) connection.close();
  }
  // Until the last of them would have connected again.
  await pause(2 * redisLimits.reconnectBackoff.maxMs);
  assert.equal(await clients(), 1);
});
