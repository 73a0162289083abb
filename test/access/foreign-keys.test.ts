/** R14: whatever any key of a cluster in Redis holds, the cluster works again after some seconds. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { RedisConnection } from "../../src/base/redis/redis-connection.ts";
import { type RedisNames, redisNames } from "../../src/base/redis/redis-names.ts";
import { Lease } from "../../src/feed/cluster/lease.ts";
import { cleanUp } from "../support/clean-up.ts";
import { openCluster } from "../support/open-cluster.ts";
import { foreignValues, toReplace } from "../support/redis/foreign-values.ts";
import { RedisServer } from "../support/redis/redis-server.ts";
import { silentLog } from "../support/silent-log.ts";
import { waitFor, waitMsMax } from "../support/wait-for.ts";

const far = "99999999999999";

/** Values of the right type with foreign contents. */
const foreignContents: Readonly<Partial<Record<keyof RedisNames, readonly (readonly string[])[]>>> =
  {
    state: [
      ["HSET", "", "epoch", "x"],
      ["HSET", "", "epoch", "x", "fresh", "maybe", "since", "1"],
      ["HSET", "", "epoch", "x", "fresh", "1", "since", "nan"],
      ["HSET", "", "epoch", "x", "fresh", "1", "since", far],
      ["HSET", "", "epoch", "x", "fresh", "1", "since", "1", "version", "many"],
      ["HSET", "", "epoch", "x", "fresh", "1", "since", "1", "version", "9".repeat(40)],
      ["HSET", "", "epoch", "x", "fresh", "1", "since", "-1", "version", "-1"],
    ],
    nodes: [
      ["HSET", "", "ghost", `${far}99 1`],
      [
        "HSET",
        "",
        ...Array.from({ length: 1_500 }, (_, index) => [`n${index}`, `${far} 1`]).flat(),
      ],
    ],
    window: [
      ["RPUSH", "", "foreign"],
      ["RPUSH", "", ...Array.from({ length: 50 }, () => far)],
      ["RPUSH", "", "nan"],
      ["RPUSH", "", "-5", "foreign", "1"],
    ],
  };

async function connect(t: TestContext, url: string) {
  const redis = await RedisConnection.open({ url, log: silentLog });
  cleanUp(t, () => redis.close());
  return (key: string, value: readonly string[]) =>
    redis.run(async (client) => {
      // In one transaction: between two commands a node can write the key again.
      const transaction = client.multi();
      for (const words of toReplace(key, value)) transaction.addCommand(words);
      await transaction.exec();
    }, waitMsMax);
}

test("R14: keys, limits and IP blocks recover from any foreign value", async (t) => {
  const cluster = await openCluster(t, { ownRedis: true });
  const database = "foreign";
  const node = await cluster.openNode({ log: silentLog, database, windowMs: 1_000 });
  const other = await cluster.openNode({ log: silentLog, database, windowMs: 1_000 });
  const replace = await connect(t, cluster.redis.url);
  const { state, nodes, blocks, keyUses, keyLastUses, window } = redisNames(database);
  const keys = { state, nodes, blocks, keyUses, keyLastUses, window: `${window}:key:caller` };
  let offenses = 0;
  const works = async () => {
    offenses += 1;
    const block = { bucket: `bucket ${offenses}`, reason: "abuse", offenses } as const;
    node.ipBlocks.put({ ...block, blockedAtMs: Date.now(), blockedUntilMs: Date.now() + 600_000 });
    await waitFor("the block on the other node", async () => other.ipBlocks.get(block.bucket));
    await waitFor("an exact limit", async () => {
      const { isAdmitted, isUnavailable } = await node.keyWindow.acquire("caller", 1_000, 0);
      return isAdmitted && !isUnavailable && node.metrics.live_nodes === 2 ? true : null;
    });
    await waitFor("the use of keys", async () =>
      node.keys.flush().then(
        () => true,
        () => null,
      ),
    );
    assert.equal(node.refusal, null);
  };
  await works();
  // All keys at the same time, because every recovery takes a second or two.
  const rounds = [
    ...Object.values(foreignValues).map((value) =>
      Object.values(keys).map((key) => [key, value] as const),
    ),
    ...Array.from({ length: 7 }, (_, round) =>
      Object.entries(keys).flatMap(([name, key]) => {
        const value = foreignContents[name as keyof RedisNames]?.[round];
        return value === undefined ? [] : [[key, value] as const];
      }),
    ),
  ];
  for (const round of rounds) {
    for (const [key, value] of round) await replace(key, value);
    const title = round.map(([, value]) => value.join(" ").slice(0, 60));
    await t.test([...new Set(title)].join("; "), works);
  }
});

test("R14: the lease can be acquired whatever value its key holds", async (t) => {
  const server = await RedisServer.open(t);
  const replace = await connect(t, server.url);
  const names = redisNames("foreign");
  const redis = await RedisConnection.open({ url: server.url, log: silentLog });
  cleanUp(t, () => redis.close());
  const fitness = { isFit: () => true, canReplace: () => false };
  const values = [...Object.values(foreignValues), ["SET", "", "owner", "EX", "86400"]];
  for (const value of values) {
    const lease = new Lease({ redis, names, fitness });
    await replace(names.lease, value);
    assert.equal(await lease.tryAcquire(), true, value.join(" "));
    await lease.close();
  }
});
