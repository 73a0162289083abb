/** What the roles of a cluster share, and report of it in metrics and readiness. */
import { hostname } from "node:os";
import type { AccessStore } from "../access/access-store.ts";
import type { Metrics } from "../api/metrics/metrics-schema.ts";
import { assert } from "../base/assert.ts";
import { RedisConnection } from "../base/redis.ts";
import { roundToThousandths } from "../base/round.ts";
import { systemClock as clock } from "../base/time/clock.ts";
import type { ChangeFeed, FeedEntry } from "../feed/cluster/change-feed.ts";
import { FeedCodec } from "../feed/cluster/feed-codec.ts";
import type { FeedStatus } from "../feed/cluster/feed-follower.ts";
import { RedisFeed } from "../feed/cluster/redis-feed.ts";
import type { RoleStart } from "./open-parts.ts";

type RedisState = Pick<RedisConnection, "isUp" | "downSeconds">;
type ClusterMetrics = NonNullable<Metrics["cluster"]>;

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

/** Which indexer is active; `null` when that is not known. */
export type ActiveIndexer = { readonly node: string; readonly term: number | null };

/** A status comes every second, so there is one among them. */
const newestMessages = 64;

/** What a serving node knows. */
export function servingStatus(redis: RedisState, feed: FeedStatus): ClusterMetrics {
  const { ageMs, term, indexer, hasHole } = feed;
  return {
    is_active: false,
    active_node: indexer?.node ?? null,
    term,
    feed_age_seconds: ageMs === null ? null : roundToThousandths(ageMs / 1000),
    feed_has_hole: hasHole,
    open_claims: 0,
    ...redisStatus(redis),
  };
}

/** What an indexer knows; `own` while it is the active one. */
export function indexingStatus(
  redis: RedisState,
  active: ActiveIndexer | null,
  own: { readonly openClaims: number } | null,
): ClusterMetrics {
  return {
    is_active: own !== null,
    active_node: active?.node ?? null,
    term: active?.term ?? null,
    feed_age_seconds: null,
    feed_has_hole: false,
    open_claims: own?.openClaims ?? 0,
    ...redisStatus(redis),
  };
}

/** The indexer that has sent the newest messages of the feed. */
export async function readActiveIndexer(feed: ChangeFeed): Promise<ActiveIndexer | null> {
  try {
    const end = await feed.end();
    if (end === null) return null;
    const { newest } = end;
    const after = { ...newest, index: Math.max(0, newest.index - newestMessages) };
    const entries = await feed.read(after, 0);
    const found = entries.toReversed().map(({ message }) => senderOf(message));
    const node = found.find((sender) => sender !== null);
    return node === undefined || node === null ? null : { node, term: newest.term };
  } catch {
    // Not known without Redis.
    return null;
  }
}

function senderOf(message: FeedEntry["message"]): string | null {
  if (message?.kind === "status") return message.status.node;
  return message?.kind === "term" ? message.node : null;
}

function redisStatus({ isUp, downSeconds }: RedisState) {
  return { redis_up: isUp, redis_down_seconds: roundToThousandths(downSeconds) };
}
