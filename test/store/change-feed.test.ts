/** The contract of both change feeds: in memory, and on a real Redis. */
import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import * as fc from "fast-check";
import { pino } from "pino";
import { RedisConnection } from "../../src/base/redis/redis-connection.ts";
import { redisNames } from "../../src/base/redis/redis-names.ts";
import { toTimedBlock } from "../../src/chain/raw-log.ts";
import {
  type ChangeFeed,
  type FeedMessage,
  type FeedPosition,
} from "../../src/feed/cluster/change-feed.ts";
import { FeedCodec } from "../../src/feed/cluster/feed-codec.ts";
import { RedisFeed } from "../../src/feed/cluster/redis-feed.ts";
import { cleanUp } from "../support/clean-up.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { MemoryFeed } from "../support/memory-feed.ts";
import { foreignValues, toReplace } from "../support/redis/foreign-values.ts";
import { RedisServer } from "../support/redis/redis-server.ts";
import { getFacts, withLedger } from "../support/store-chain.ts";

/** One feed as two processes open it, and a function that empties it. */
type Scene = {
  readonly feeds: readonly [ChangeFeed, ChangeFeed];
  readonly empty: () => Promise<void>;
};

const secret = Buffer.alloc(32, 1);
const names = redisNames("facts");
const log = pino({ level: "silent" });

async function openRedisFeed(t: TestContext, url: string, key = secret): Promise<RedisFeed> {
  const connect = async () => {
    const redis = await RedisConnection.open({ url, log });
    cleanUp(t, () => redis.close());
    return redis;
  };
  const codec = new FeedCodec(key);
  return new RedisFeed({ redis: await connect(), reader: await connect(), codec, names });
}

const scenes: Readonly<Record<string, (t: TestContext) => Promise<Scene>>> = {
  memory: async () => {
    const feed = new MemoryFeed();
    return { feeds: [feed, feed], empty: async () => feed.empty() };
  },
  redis: async (t) => {
    const server = await RedisServer.open(t);
    const feeds = [await openRedisFeed(t, server.url), await openRedisFeed(t, server.url)] as const;
    const client = await RedisConnection.open({ url: server.url, log });
    cleanUp(t, () => client.close());
    return { feeds, empty: async () => void (await client.run((redis) => redis.flushAll())) };
  },
};

const facts = withLedger(getFacts(buildChain(fc.sample(anyBlockPlan(3), { seed: 1, numRuns: 5 }))));

function blockMessage(index: number): FeedMessage {
  const block = facts[index];
  assert(block !== undefined);
  return { kind: "block", parentHash: facts[index - 1]?.hash ?? null, block };
}

const status: FeedMessage = { kind: "status", status: { node: "one", head: null, checks: {} } };

/** Returns the hashes of the unfinalized blocks of a feed. */
async function getHashes(feed: ChangeFeed): Promise<readonly string[] | undefined> {
  return (await feed.head())?.blocks.map(({ block }) => block.hash);
}

async function readAll(feed: ChangeFeed, after: FeedPosition): Promise<readonly FeedMessage[]> {
  const entries = await feed.read(after, 0);
  return entries.map(({ message }) => {
    assert(message !== null, "it can be read");
    return message;
  });
}

for (const [name, open] of Object.entries(scenes)) {
  suite(`the ${name} feed`, () => {
    test("returns messages in order, from any position", async (t) => {
      const { feeds } = await open(t);
      const [writer, reader] = feeds;
      assert.equal(await reader.active(), null);
      const term = await writer.beginTerm("one");
      const positions: FeedPosition[] = [];
      for (const index of facts.keys()) {
        positions.push(await writer.append(term, blockMessage(index)));
      }
      assert.deepEqual((await reader.head())?.newest, positions.at(-1));
      assert.deepEqual(await reader.active(), { node: "one", term: term.term });
      const all = await readAll(reader, { ...term, index: 0 });
      assert.equal(all.length, facts.length);
      for (const [index, message] of all.entries()) {
        assert(message.kind === "block");
        const { exchange: _, ...fill } = message.block.fills[0] ?? { exchange: null };
        const { exchange: __, ...expected } = facts[index]?.fills[0] ?? { exchange: null };
        assert.deepEqual(fill, expected);
        assert.deepEqual(message.block.events, facts[index]?.events);
        assert.equal(message.block.hash, facts[index]?.hash);
      }
      const [, second] = positions;
      assert(second !== undefined);
      assert.equal((await readAll(reader, second)).length, facts.length - 2);
    });

    test("wakes a reader that waits for a message", async (t) => {
      const { feeds } = await open(t);
      const [writer, reader] = feeds;
      const term = await writer.beginTerm("one");
      const waiting = reader.read({ ...term, index: 0 }, 60_000);
      await writer.append(term, { kind: "revert", safeBlock: 7 });
      assert.deepEqual((await waiting)[0]?.message, { kind: "revert", safeBlock: 7 });
      assert.deepEqual(await reader.read({ ...term, index: 1 }, 10), []);
    });

    test("refuses messages of an earlier term", async (t) => {
      const { feeds } = await open(t);
      const [one, other] = feeds;
      const earlier = await one.beginTerm("one");
      const later = await other.beginTerm("other");
      assert(later.term > earlier.term);
      const message: FeedMessage = { kind: "revert", safeBlock: 1 };
      await assert.rejects(one.append(earlier, message), /the term is stale/);
      await other.append(later, message);
      assert.equal((await readAll(one, { ...earlier, index: 0 })).length, 1);
    });

    test("keeps the blocks of all terms until they are replaced, reverted or committed", async (t) => {
      const { feeds, empty } = await open(t);
      const [one, other] = feeds;
      const hashes = facts.map(({ hash }) => hash);
      const [, second, third] = facts;
      assert(second !== undefined && third !== undefined);
      assert.equal(await other.head(), null);
      const earlier = await one.beginTerm("one");
      for (const index of [0, 1, 2, 3]) await one.append(earlier, blockMessage(index));
      assert.equal((await other.head())?.isWhole, false);
      await one.append(earlier, status);
      const later = await other.beginTerm("other");
      assert.deepEqual(await one.head(), { ...(await other.head()), isWhole: true });
      assert.deepEqual((await other.head())?.newest, { ...later, index: 0 });
      assert.deepEqual(await getHashes(other), hashes.slice(0, 4));
      await other.append(later, { kind: "committed", last: toTimedBlock(second) });
      assert.deepEqual(await getHashes(one), hashes.slice(2, 4));
      await other.append(later, { kind: "revert", safeBlock: third.number });
      assert.deepEqual(await getHashes(one), hashes.slice(2, 3));
      const fork: FeedMessage = { kind: "block", parentHash: second.hash, block: third };
      const newest = await other.append(later, fork);
      assert.deepEqual(await getHashes(one), hashes.slice(2, 3));
      assert.deepEqual((await one.head())?.newest, newest);
      await empty();
      assert.equal(await one.head(), null);
      const after = await other.beginTerm("other");
      assert.deepEqual(await other.head(), {
        newest: { ...after, index: 0 },
        blocks: [],
        isWhole: false,
      });
    });

    test("has another epoch after it was emptied", async (t) => {
      const { feeds, empty } = await open(t);
      const [writer, reader] = feeds;
      const before = await writer.beginTerm("one");
      let last: FeedPosition = { ...before, index: 0 };
      for (let block = 0; block < 5; block += 1) {
        last = await writer.append(before, { kind: "revert", safeBlock: block });
      }
      await empty();
      await assert.rejects(
        writer.append(before, { kind: "revert", safeBlock: 1 }),
        /the term is stale/,
      );
      assert.deepEqual(await reader.read(last, 10), []);
      const after = await writer.beginTerm("one");
      assert.notEqual(after.epoch, before.epoch);
      const message = { kind: "revert", safeBlock: 9 } as const;
      await writer.append(after, message);
      assert.deepEqual(await readAll(reader, last), []);
      assert.deepEqual((await reader.head())?.newest, { ...after, index: 1 });
      const [entry] = await reader.read({ ...before, index: 0 }, 0);
      assert.deepEqual([entry?.message, entry?.position.epoch], [message, after.epoch]);
    });
  });
}

test("a message with another secret or at another position is read as null", async (t) => {
  const server = await RedisServer.open(t);
  const writer = await openRedisFeed(t, server.url, Buffer.alloc(32, 2));
  const reader = await openRedisFeed(t, server.url);
  const term = await writer.beginTerm("stranger");
  await writer.append(term, blockMessage(0));
  await writer.append(term, status);
  const [entry] = await reader.read({ ...term, index: 0 }, 0);
  assert.equal(entry?.message, null);
  const head = await reader.head();
  assert.deepEqual([head?.blocks, head?.isWhole], [[], false]);
  assert.equal((await writer.head())?.isWhole, true);
  const client = await RedisConnection.open({ url: server.url, log });
  cleanUp(t, () => client.close());
  const key = names.feed;
  await client.run((redis) => redis.xAdd(key, "9-1", { e: term.epoch, m: "nonsense" }));
  await client.run((redis) => redis.xAdd(key, "9-2", { other: "field" }));
  const entries = await reader.read({ ...term, index: 2 }, 0);
  assert.deepEqual(
    entries.map(({ message }) => message),
    [null],
  );
});

test("foreign fields in the state hide blocks only until the next one", async (t) => {
  const server = await RedisServer.open(t);
  const feed = await openRedisFeed(t, server.url);
  const client = await RedisConnection.open({ url: server.url, log });
  cleanUp(t, () => client.close());
  const term = await feed.beginTerm("a");
  await feed.append(term, blockMessage(0));
  await feed.append(term, status);
  const fields = { "": "x", "0b1": "x", name: "x", "99999999": "x" };
  await client.run((redis) => redis.hSet(names.feedState, fields));
  assert.equal((await feed.head())?.isWhole, false);
  await feed.append(term, blockMessage(1));
  const head = await feed.head();
  assert.deepEqual([head?.blocks.length, head?.isWhole], [2, true]);
});

test("a foreign message with a high term stops the feed only until the next term", async (t) => {
  const server = await RedisServer.open(t);
  const feed = await openRedisFeed(t, server.url);
  const client = await RedisConnection.open({ url: server.url, log });
  cleanUp(t, () => client.close());
  const first = await feed.beginTerm("a");
  await feed.append(first, blockMessage(0));
  await client.run((redis) => redis.xAdd(names.feed, "9-1", { m: "x" }));
  await assert.rejects(feed.append(first, status));
  const term = await feed.beginTerm("a");
  await feed.append(term, status);
  const [entry] = await feed.read({ ...term, index: 0 }, 0);
  assert.deepEqual(entry?.message, status);
  assert.equal((await feed.head())?.blocks.length, 1);
});

test("R14: a new term works whatever the keys of the feed hold", async (t) => {
  const server = await RedisServer.open(t);
  const feed = await openRedisFeed(t, server.url);
  const client = await RedisConnection.open({ url: server.url, log });
  cleanUp(t, () => client.close());
  const states = [
    ["HSET", "", "term", "many"],
    ["HSET", "", "epoch", "x", "term", "many"],
    ["HSET", "", "epoch", "x", "term", "9".repeat(19)],
    ["HSET", "", "epoch", "x", "term", "-5"],
    ["HSET", "", "term", "7", "index", "x", "whole", "x", "100", "x"],
  ];
  const values = Object.values(foreignValues);
  const cases = [
    ...values.map((value) => [names.feed, value] as const),
    ...[...values, ...states].map((value) => [names.feedState, value] as const),
  ];
  for (const [key, value] of cases) {
    await client.run(async (redis) => {
      for (const words of toReplace(key, value)) await redis.sendCommand(words);
    });
    const term = await feed.beginTerm("a");
    await feed.append(term, blockMessage(0));
    await feed.append(term, status);
    const messages = await readAll(feed, { ...term, index: 0 });
    assert.deepEqual([messages.length, messages[1]], [2, status], `${key} ${value.join(" ")}`);
    assert.equal((await feed.head())?.isWhole, true);
  }
  // The stream can have lost the messages that it had.
  await client.run((redis) => redis.xAdd(names.feed, "99-1", { m: "x" }));
  await client.run((redis) => redis.xDel(names.feed, "99-1"));
  await feed.append(await feed.beginTerm("a"), status);
});
