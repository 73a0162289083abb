/**
 * Returns the names of all that a deployment has in Redis. A deployment is known by its ClickHouse database. The braces
 * put its names into one slot of a Redis Cluster.
 */
export function redisNames(database: string) {
  const name = (kind: string) => `{oddwire:${database}}:${kind}`;
  return {
    state: name("access"),
    nodes: name("nodes"),
    channel: name("access-changes"),
    blocks: name("ip-block-log"),
    keyUses: name("key-uses"),
    keyLastUses: name("key-last-uses"),
    window: name("window"),
    feed: name("feed"),
    feedState: name("feed-state"),
    lease: name("lease"),
  } as const;
}

/** The names of a deployment. */
export type RedisNames = ReturnType<typeof redisNames>;
