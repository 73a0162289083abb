/** The parts that the roles of a cluster share: Redis, the feed, and the status for metrics and readiness. */
import { hostname } from "node:os";
import type { AccessStore } from "../access/access-store.ts";
import type { Metrics } from "../api/metrics/metrics-schema.ts";
import { assert } from "../base/assert.ts";
import { RedisConnection } from "../base/redis/redis-connection.ts";
import { redisNames } from "../base/redis/redis-names.ts";
import { roundToThousandths } from "../base/round.ts";
import type { ActiveIndexer } from "../feed/cluster/change-feed.ts";
import { FeedCodec } from "../feed/cluster/feed-codec.ts";
import type { FeedStatus } from "../feed/cluster/feed-follower.ts";
import { RedisFeed } from "../feed/cluster/redis-feed.ts";
import type { RoleStart } from "./open-parts.ts";

type RedisState = Pick<RedisConnection, "isUp" | "downSeconds">;
type ClusterMetrics = NonNullable<Metrics["cluster"]>;

/** Returns the name of this process in messages and metrics. */
export function nodeName(): string {
  return `${hostname()}:${process.pid}`;
}

/** Connects to the Redis of the cluster. While it is down, the connection is retried in the background. */
export async function openRedis({ config, log, life }: RoleStart): Promise<RedisConnection> {
  const { redisUrl } = config;
  assert(redisUrl !== null, "roles of a cluster require it");
  return life.use(await RedisConnection.open({ url: redisUrl, log }));
}

/** Opens the feed of the chain. Its messages are authenticated: only nodes with the same pepper can write them. */
export async function openFeed(
  start: RoleStart,
  { redis, access }: { readonly redis: RedisConnection; readonly access: AccessStore },
): Promise<RedisFeed> {
  const codec = new FeedCodec(access.keys.deriveSecret("feed"));
  const names = redisNames(start.config.clickhouseDatabase);
  return new RedisFeed({ redis, reader: await openRedis(start), codec, names });
}

/** Returns the status of the cluster as a serving node knows it. */
export function servingStatus(redis: RedisState, feed: FeedStatus): ClusterMetrics {
  const { ageMs, term, indexer, hasGap } = feed;
  return {
    ...indexingStatus(redis, null, null),
    active_node: indexer?.node ?? null,
    feed_term: term,
    feed_age_seconds: ageMs === null ? null : roundToThousandths(ageMs / 1000),
    feed_has_gap: hasGap,
  };
}

/** Returns the status of the cluster as an indexer knows it. `claims` is `null` unless it is the active one. */
export function indexingStatus(
  { isUp, downSeconds }: RedisState,
  active: ActiveIndexer | null,
  claims: { readonly openClaims: number } | null,
): ClusterMetrics {
  return {
    indexer_active: claims !== null,
    active_node: active?.node ?? null,
    feed_term: active?.term ?? null,
    feed_age_seconds: null,
    feed_has_gap: false,
    indexer_open_claims: claims?.openClaims ?? 0,
    redis_up: isUp,
    redis_down_seconds: roundToThousandths(downSeconds),
  };
}
