/**
 * Keys and limits of several nodes with a real Redis and a real ClickHouse, and without them. These variables run more:
 * `CLUSTER_REQUESTS` requests while keys are revoked, `CLUSTER_ROUNDS` rounds in which Redis is emptied, and
 * `CLUSTER_SECONDS` seconds in which it is killed. The tests mostly wait, so they run at the same time.
 */
import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { pino } from "pino";
import type { VerifiedKey } from "../../src/access/api-key.ts";
import type { ClusterAccess } from "../../src/access/cluster/cluster-access.ts";
import { accessLimits } from "../../src/base/config/limits.ts";
import { RedisConnection } from "../../src/base/redis/redis-connection.ts";
import { redisNames } from "../../src/base/redis/redis-names.ts";
import type { LimitStatus } from "../../src/base/sliding-window.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { RowWriter } from "../../src/storage/codec/row-writer.ts";
import { cleanUp } from "../support/clean-up.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { openCluster } from "../support/open-cluster.ts";
import { silentLog } from "../support/silent-log.ts";
import { waitFor, waitMsMax } from "../support/wait-for.ts";

const requests = Number(process.env["CLUSTER_REQUESTS"] ?? 3_000);
const rounds = Number(process.env["CLUSTER_ROUNDS"] ?? 2);
const seconds = Number(process.env["CLUSTER_SECONDS"] ?? 8);
const localhost = "127.0.0.1";
const newKey = { name: "one", scope: "read", expiresAtMs: null, allowedIps: [] } as const;
const nowMs = () => systemClock.monotonicMs();
const pause = (ms: number) => systemClock.sleep(ms, new AbortController().signal);

suite("nodes of a cluster", { concurrency: true, timeout: 3_600_000 }, () => {
  test("R13: no node accepts a key after its revocation is answered, and its sockets are closed by then", async (t) => {
    const cluster = await openCluster(t);
    const [a, b, c] = [
      await cluster.openNode(),
      await cluster.openNode(),
      await cluster.openNode(),
    ];
    let answeredAt = Number.POSITIVE_INFINITY;
    let late = 0;
    for (let round = 0; round < Math.ceil(requests / 1_000); round += 1) {
      const { value, key } = await a.keys.create({ ...newKey, name: `key ${round}` });
      answeredAt = Number.POSITIVE_INFINITY;
      const sockets = [b, c].map((node) => openSocket(node, value));
      const load = Promise.all(
        [b, c].map(async (node) => {
          for (let tries = 0; tries < 500; tries += 1) {
            const verified = node.keys.verify(value, localhost);
            const status = await node.keyWindow.acquire(key.id, 1_000_000, nowMs());
            // Admission checks in the same way, once the limit is known.
            const isAnswered = verified !== null && status.isAdmitted && node.keys.isLive(verified);
            if (isAnswered && nowMs() > answeredAt) late += 1;
            if (tries % 50 === 0) await pause(1);
          }
        }),
      );
      await pause(Math.random() * 50);
      await a.keys.revoke(key.id);
      answeredAt = nowMs();
      assert(
        sockets.every((isOpen) => !isOpen()),
        "sockets are closed",
      );
      await load;
      for (const node of [a, b, c]) assert.equal(node.keys.verify(value, localhost), null);
    }
    assert.equal(late, 0);
  });

  test("R13: a node that is cut off refuses keys within 3 s and closes their sockets", async (t) => {
    const cluster = await openCluster(t, { ownRedis: true });
    // Its clock is slow, so that all timers fire too early.
    const clock = { ...systemClock, monotonicMs: () => nowMs() * 0.95 };
    const node = await cluster.openNode({ log: silentLog, clock });
    const { value } = await node.keys.create(newKey);
    assert(node.keys.verify(value, localhost));
    const isOpen = openSocket(node, value);
    cluster.redis.pause();
    cluster.clickhouse.stall();
    const cutAtMs = clock.monotonicMs();
    let verifiedAtMs = cutAtMs;
    await waitFor("a refusal", async () => {
      const requestedAtMs = clock.monotonicMs();
      if (!node.keys.isVerified) return true;
      verifiedAtMs = requestedAtMs;
      return null;
    });
    assert(verifiedAtMs - cutAtMs <= 3_000, "no longer than its validity");
    assert.equal(node.keys.verify(value, localhost), null);
    await waitFor("the close", async () => (isOpen() ? null : true));
    cluster.redis.resume();
    assert.equal(node.keys.isVerified, false, "Redis alone may have lost a revocation");
    cluster.clickhouse.resume();
    await waitFor("keys", async () => (node.keys.verify(value, localhost) === null ? null : true));
  });

  test("R13: a node that reaches ClickHouse but not Redis knows of a revocation when it is answered", async (t) => {
    const cluster = await openCluster(t);
    const redis = await CuttingProxy.open(t, cluster.redis.url);
    const redisUrl = redis.url.replace("http", "redis");
    const a = await cluster.openNode();
    const b = await cluster.openNode({ redisUrl, log: silentLog });
    redis.refuse();
    // Until the others have forgotten it.
    await pause(accessLimits.validityMs + 200);
    for (let round = 0; round < 2; round += 1) {
      const { value, key } = await a.keys.create({ ...newKey, name: `key ${round}` });
      await waitFor("the key", async () =>
        b.keys.verify(value, localhost) === null ? null : true,
      );
      const isOpen = openSocket(b, value);
      await a.keys.revoke(key.id);
      assert.equal(b.keys.verify(value, localhost), null);
      assert(!isOpen(), "its socket is closed");
    }
  });

  test("R13: no revoked key works again when Redis is emptied, at any moment", async (t) => {
    const cluster = await openCluster(t, { ownRedis: true });
    const options = { log: silentLog };
    const [a, b] = [await cluster.openNode(options), await cluster.openNode(options)];
    const flusher = await openRedis(t, cluster.redis.url);
    for (let round = 0; round < rounds; round += 1) {
      const { value, key } = await a.keys.create({ ...newKey, name: `key ${round}` });
      await waitFor("the key", async () =>
        b.keys.verify(value, localhost) === null ? null : true,
      );
      const revoked = a.keys.revoke(key.id);
      await pause(Math.random() * 100);
      if (round % 2 === 0) await flusher.run((client) => client.flushAll(), waitMsMax);
      else await cluster.redis.restart();
      await revoked;
      for (let looks = 0; looks < 20; looks += 1) {
        for (const node of [a, b]) assert.equal(node.keys.verify(value, localhost), null);
        await pause(10);
      }
    }
  });

  test("keys keep working while either ClickHouse or Redis is unavailable", async (t) => {
    const cluster = await openCluster(t, { ownRedis: true });
    const node = await cluster.openNode({ log: silentLog });
    const { value, key } = await node.keys.create(newKey);
    cluster.clickhouse.refuse();
    await pause(accessLimits.validityMs + 200);
    assert(node.keys.verify(value, localhost), "Redis is enough");
    cluster.clickhouse.resume();
    await cluster.redis.kill();
    await pause(accessLimits.validityMs + 200);
    assert(node.keys.verify(value, localhost), "ClickHouse is enough");
    await cluster.redis.restart();
    await node.keys.revoke(key.id);
    assert.equal(node.keys.verify(value, localhost), null);
  });

  test("requests that Redis could not count are counted once it is back", async (t) => {
    const cluster = await openCluster(t, { ownRedis: true });
    const node = await cluster.openNode({ log: silentLog });
    const { value, key } = await node.keys.create(newKey);
    const count = async () => (await node.keys.get(key.id))?.requestCount;
    await cluster.redis.kill();
    for (let request = 0; request < 3; request += 1) assert(node.keys.verify(value, localhost));
    await assert.rejects(node.keys.flush(), { code: "SERVICE_UNAVAILABLE" });
    assert.equal(await count(), 3);
    await cluster.redis.restart();
    const flush = () => node.keys.flush().then(() => true);
    await waitFor("Redis", async () => flush().catch(() => null));
    assert.equal(await count(), 3);
  });

  test("R12: with Redis killed at random no window admits more than (2 - 1/N) times the limit", async (t) => {
    const windowMs = 2_000;
    const limit = 60;
    const cluster = await openCluster(t, { ownRedis: true });
    const options = { windowMs, windowTimeoutMs: 500, log: silentLog };
    const nodes = await Promise.all([1, 2, 3].map(() => cluster.openNode(options)));
    await waitFor("all nodes", async () =>
      nodes.every(({ metrics }) => metrics.live_nodes === 3) ? true : null,
    );
    const admittedAt: number[] = [];
    const inexactBefore = nodes.map(({ metrics }) => metrics.limits_inexact_seconds);
    const endMs = nowMs() + seconds * 1_000;
    const load = Promise.all(
      nodes.map(async ({ keyWindow }) => {
        while (nowMs() < endMs) {
          const requestedAtMs = nowMs();
          const status: LimitStatus = await keyWindow.acquire("caller", limit, requestedAtMs);
          // The time of the response counts. It can be late, but is never before the request.
          if (status.isAdmitted) admittedAt.push(nowMs());
          await pause(2);
        }
      }),
    );
    while (nowMs() < endMs - windowMs) {
      await pause(Math.random() * 1.5 * windowMs);
      await cluster.redis.restart();
    }
    await load;
    for (const [index, { metrics }] of nodes.entries())
      assert(metrics.limits_inexact_seconds > Number(inexactBefore[index]), "the metric says so");
    assert(getWorst(admittedAt, windowMs) <= Math.floor((2 - 1 / 3) * limit));
  });

  test("without Redis, nodes that are set to refuse report the limit as unavailable", async (t) => {
    const cluster = await openCluster(t, { ownRedis: true });
    const node = await cluster.openNode({ limitsWithoutRedis: "refuse", log: silentLog });
    await cluster.redis.kill();
    await waitFor("a refusal", async () => {
      const { isAdmitted, isUnavailable } = await node.keyWindow.acquire("caller", 10, nowMs());
      return !isAdmitted && isUnavailable ? true : null;
    });
    assert.match(node.refusal ?? "", /^requests with a key are refused until Redis /);
    // Limits by IP, which apply to health checks, still admit the share of the node.
    assert.equal((await node.ipWindow.acquire("192.0.2.1", 10, nowMs())).isAdmitted, true);
  });

  test("R12: requests of an IP that a refusing node admitted without Redis still count afterwards", async (t) => {
    const cluster = await openCluster(t);
    const redis = await CuttingProxy.open(t, cluster.redis.url);
    const redisUrl = redis.url.replace("http", "redis");
    const node = await cluster.openNode({
      limitsWithoutRedis: "refuse",
      redisUrl,
      log: silentLog,
    });
    const { keyWindow, ipWindow } = node;
    const isUnavailable = async () => (await keyWindow.peek("caller", 10, nowMs())).isUnavailable;
    redis.refuse();
    await waitFor("the loss", async () => ((await isUnavailable()) ? true : null));
    assert.equal((await ipWindow.acquire("192.0.2.1", 10, nowMs())).isAdmitted, true);
    redis.resume();
    await waitFor("Redis", async () => ((await isUnavailable()) ? null : true));
    const { remaining } = await ipWindow.peek("192.0.2.1", 10, nowMs());
    assert.equal(remaining, 9, "Redis has not seen this request");
  });

  test("IP blocks are written again to a Redis that was emptied", async (t) => {
    const cluster = await openCluster(t, { ownRedis: true });
    const node = await cluster.openNode({ log: silentLog });
    const blockedAtMs = Date.now();
    const bucket = "203.0.113.7";
    const blockedUntilMs = blockedAtMs + 600_000;
    node.ipBlocks.put({ bucket, reason: "abuse", offenses: 1, blockedAtMs, blockedUntilMs });
    await cluster.redis.restart();
    const other = await cluster.openNode({ log: silentLog });
    await waitFor("the block", async () => (other.ipBlocks.get(bucket) === null ? null : true));
  });

  test("a process that has not reached Redis does not report that no IP is blocked", async (t) => {
    const cluster = await openCluster(t, { ownRedis: true });
    await cluster.redis.kill();
    const { ipBlocks } = await cluster.openNode({ log: silentLog, isNode: false });
    const list = () => ipBlocks.list({ limit: 10, after: null });
    await assert.rejects(list, { code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 });
    await cluster.redis.restart();
    await waitFor("the list", async () => list().catch(() => null));
    assert.deepEqual(await list(), []);
  });

  test("keys that are read from ClickHouse are not logged as failing because of Redis", async (t) => {
    const cluster = await openCluster(t, { ownRedis: true });
    const failing = new Set<unknown>();
    const write = (line: string) => failing.add((JSON.parse(line) as { part?: unknown }).part);
    await cluster.openNode({ log: pino({ level: "error" }, { write }), database: "log" });
    const redis = await openRedis(t, cluster.redis.url);
    const { channel } = redisNames("log");
    const changes = 20;
    await redis.run(async (client) => {
      // The scripts of nodes fail.
      await client.sendCommand(["ACL", "SETUSER", "default", "-hset"]);
      await client.configResetStat();
      for (let sent = 0; sent < changes; sent += 1) await client.publish(channel, "version");
    }, waitMsMax);
    await waitFor("an attempt after each change", async () => {
      const stats = await redis.run((client) => client.info("commandstats"), waitMsMax);
      const failed = Number(/^cmdstat_evalsha:.*failed_calls=([0-9]+)/m.exec(stats)?.[1] ?? 0);
      return failed >= changes ? true : null;
    });
    await waitFor("the log", async () => (failing.has("Redis") ? true : null));
    assert.deepEqual([...failing], ["Redis"]);
  });

  test("a key ends at the same moment on a node whose clock is off, which says so", async (t) => {
    const cluster = await openCluster(t);
    const lines: string[] = [];
    const log = pino({ level: "warn" }, { write: (line) => lines.push(line) });
    const late = { ...systemClock, nowMs: () => systemClock.nowMs() - 60_000 };
    const node = await cluster.openNode({ log: silentLog });
    const other = await cluster.openNode({ log, clock: late });
    const expiresAtMs = Date.now() + 5_000;
    const { value } = await node.keys.create({ ...newKey, expiresAtMs });
    await waitFor("the key", async () => other.keys.verify(value, localhost));
    await waitFor("its end", async () =>
      other.keys.verify(value, localhost) === null ? true : null,
    );
    const endedAfterMs = Date.now() - expiresAtMs;
    assert(endedAfterMs > -1_000 && endedAfterMs < 30_000, `${endedAfterMs} ms`);
    assert.match(
      other.clockDetail,
      /^60\.\d s behind Redis, 60\.\d s behind ClickHouse|60\.\d s behind ClickHouse, 60\.\d s behind Redis$/,
    );
    assert(Math.abs((other.metrics.clock_offset_seconds ?? 0) - 60) < 5);
    assert(lines.some((line) => line.includes("system clock differs")));
    assert.doesNotMatch(node.clockDetail, /behind|ahead/);
  });

  test("foreign data in Redis and ClickHouse stops no node and admits no one", async (t) => {
    const cluster = await openCluster(t, { ownRedis: true });
    const node = await cluster.openNode({ log: silentLog, database: "hostile" });
    const { value } = await node.keys.create(newKey);
    const redis = await openRedis(t, cluster.redis.url);
    const names = redisNames("hostile");
    const texts = ["", "null", "[]", "{", '{"bucket":5,"block":{}}', "\u0000\uffff"];
    await redis.run(async (client) => {
      for (const text of texts) {
        await client.publish(names.channel, text);
        await client.xAdd(names.blocks, "*", { change: text });
        await client.xAdd(names.blocks, "*", { other: text });
        await client.hSet(names.nodes, `n${text}`, text);
      }
      await client.set(`${names.window}:key:caller`, "no list");
    }, waitMsMax);
    await pause(1_500);
    assert(node.keys.verify(value, localhost));
    assert.equal((await node.ipBlocks.list({ limit: 10, after: null })).length, 0);
    await node.keyWindow.acquire("caller", 10, nowMs());
    const foreign = { epoch: "x", version: "many" };
    await redis.run((client) => client.hSet(names.state, foreign), waitMsMax);
    await pause(1_500);
    assert(node.keys.verify(value, localhost), "ClickHouse is enough");
    await redis.run((client) => client.flushAll(), waitMsMax);
    const row = new RowWriter().uint64(1_000).text('{"format":1}').finish();
    await cluster.engine.insert("access_log", row, "access:1000");
    await waitFor("a refusal", async () => (node.keys.isVerified ? null : true));
  });
});

/** Opens a socket as the stream does: it is closed when its key is no longer live. */
function openSocket({ keys }: ClusterAccess, value: string): () => boolean {
  const verified: VerifiedKey | null = keys.verify(value, localhost);
  let isOpen = verified !== null;
  keys.onEnded(() => {
    if (verified !== null && !keys.isLive(verified)) isOpen = false;
  });
  return () => isOpen;
}

async function openRedis(t: TestContext, url: string) {
  const redis = await RedisConnection.open({ url, log: silentLog });
  cleanUp(t, () => redis.close());
  return redis;
}

function getWorst(times: readonly number[], windowMs: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  let worst = 0;
  for (let last = 0, first = 0; last < sorted.length; last += 1) {
    while ((sorted[last] ?? 0) - (sorted[first] ?? 0) >= windowMs) first += 1;
    worst = Math.max(worst, last - first + 1);
  }
  return worst;
}
