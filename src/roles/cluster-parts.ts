/** What the roles of a cluster share. */
import { hostname } from "node:os";
import type { AccessStore } from "../access/access-store.ts";
import { assert } from "../base/assert.ts";
import { RedisConnection } from "../base/redis.ts";
import { systemClock as clock } from "../base/time/clock.ts";
import { FeedCodec } from "../feed/cluster/feed-codec.ts";
import { RedisFeed } from "../feed/cluster/redis-feed.ts";
import type { RoleStart } from "./open-parts.ts";

/** What a process is called in messages and metrics. */
export function nodeName(): string {
  return `${hostname()}:${process.pid}`;
}

/** Connects to the Redis of the cluster, or goes on trying. */
export async function openRedis({ config, log, life }: RoleStart): Promise<RedisConnection> {
  const { redisUrl } = config;
  assert(redisUrl !== null, "roles of a cluster require it");
  const redis = await RedisConnection.open({ url: redisUrl, clock, log });
  life.onClose(() => redis.close());
  return redis;
}

/** The feed of the chain, whose messages only nodes with the same pepper can write. */
export async function openFeed(
  start: RoleStart,
  { redis, access }: { readonly redis: RedisConnection; readonly access: AccessStore },
): Promise<RedisFeed> {
  const { chainId } = start.config;
  const codec = new FeedCodec(access.deriveSecret("feed"));
  return new RedisFeed({ redis, reader: await openRedis(start), codec, chainId });
}
