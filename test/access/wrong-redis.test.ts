/** The Redis behind one address changes its role. Open connections stay with the old one. */
import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { RedisConnection } from "../../src/base/redis/redis-connection.ts";
import { cleanUp } from "../support/clean-up.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { RedisServer } from "../support/redis/redis-server.ts";
import { silentLog } from "../support/silent-log.ts";
import { waitFor } from "../support/wait-for.ts";

async function connect(t: TestContext, url: string): Promise<RedisConnection> {
  const connection = await RedisConnection.open({
    url: url.replace("http", "redis"),
    log: silentLog,
  });
  cleanUp(t, () => connection.close());
  return connection;
}

const getPort = ({ url }: RedisServer) => new URL(url).port;
const send = (connection: RedisConnection, words: string) =>
  connection.run((client) => client.sendCommand(words.split(" ")));

suite("R15: connections leave a Redis that is no longer the primary", () => {
  test("as soon as it refuses a command", async (t) => {
    const [first, second] = [await RedisServer.open(t), await RedisServer.open(t)];
    const proxy = await CuttingProxy.open(t, first.url);
    const [writer, reader] = [await connect(t, proxy.url), await connect(t, proxy.url)];
    await writer.run((client) => client.set("name", "first"));
    proxy.leadTo(second.url, { isKept: true });
    await send(await connect(t, second.url), "SET name second");
    await send(
      await connect(t, first.url),
      `REPLICAOF 127.0.0.1 ${getPort(await RedisServer.open(t))}`,
    );
    await waitFor("a write to the new primary", async () =>
      writer.run((client) => client.set("other", "value")).catch(() => null),
    );
    // A connection that only reads gets no error. It is replaced too.
    await waitFor("a read from the new primary", async () => {
      const name = await reader.run((client) => client.get("name")).catch(() => null);
      return name === "second" ? true : null;
    });
  });

  const answers = [
    "READONLY You can't write against a read only replica.",
    "LOADING Redis is loading the dataset in memory",
    "MASTERDOWN Link with MASTER is down",
    "NOREPLICAS Not enough good replicas to write.",
    "MOVED 3999 127.0.0.1:6381",
    "ASK 3999 127.0.0.1:6381",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "CLUSTERDOWN The cluster is down",
    "UNBLOCKED force unblock from blocking operation, instance state changed",
  ];
  for (const answer of answers)
    test(`for the answer ${answer.split(" ")[0]}`, async (t) => {
      const [first, second] = [await RedisServer.open(t), await RedisServer.open(t)];
      const proxy = await CuttingProxy.open(t, first.url);
      const connection = await connect(t, proxy.url);
      proxy.leadTo(second.url, { isKept: true });
      await send(await connect(t, second.url), "SET name second");
      const script = `return redis.error_reply('${answer.replaceAll("'", "\\'")}')`;
      await waitFor("the new server", async () => {
        await connection.run((client) => client.eval(script)).catch(() => {});
        const name = await connection.run((client) => client.get("name")).catch(() => null);
        return name === "second" ? true : null;
      });
    });
});

test("an error that is not about the server leaves the connection open", async (t) => {
  const redis = await RedisServer.open(t);
  const connection = await connect(t, redis.url);
  const id = await connection.run((client) => client.clientId());
  await assert.rejects(connection.run((client) => client.eval("return redis.error_reply('BUSY')")));
  assert.equal(await connection.run((client) => client.clientId()), id);
});
