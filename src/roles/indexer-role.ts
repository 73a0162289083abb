import type { ServiceMetrics } from "../api/metrics/service-metrics.ts";
import { StartAgainError, toError } from "../base/errors.ts";
import { redisNames } from "../base/redis/redis-names.ts";
import { systemClock as clock } from "../base/time/clock.ts";
import type { ChainThread } from "../feed/chain-thread.ts";
import type { ActiveIndexer } from "../feed/cluster/change-feed.ts";
import { Fitness } from "../feed/cluster/fitness.ts";
import { Lease } from "../feed/cluster/lease.ts";
import { Publisher } from "../feed/cluster/publisher.ts";
import type { RedisFeed } from "../feed/cluster/redis-feed.ts";
import { type Checks, Intake } from "../feed/intake.ts";
import { MetadataTable } from "../storage/server/metadata-table.ts";
import { getServerDatabase, openDatabase } from "../storage/server/open-database.ts";
import { indexingStatus, nodeName, openFeed, openRedis } from "./cluster-parts.ts";
import { serveOperations } from "./listen.ts";
import {
  type IndexingParts,
  openAccess,
  openAuditor,
  openChain,
  openMetadata,
  openMetrics,
  openState,
  openWrittenFacts,
  type RoleStart,
  readIntakeChecks,
  startIndexing,
} from "./open-parts.ts";

type Standby = {
  readonly metrics: ServiceMetrics;
  readonly chain: ChainThread;
  readonly feed: RedisFeed;
  readonly lease: Lease;
};

type Active = { readonly parts: IndexingParts; readonly publisher: Publisher };

/**
 * Opens the role `index`: waits until no other indexer is active, then indexes the chain into the shared database and
 * publishes the changes. Returns the URL of health, readiness and metrics, which are served immediately.
 */
export async function openIndex(start: RoleStart): Promise<string> {
  const { config, contracts, life } = start;
  const chain = openChain(start);
  // A standby that serves another chain must not wait for its turn.
  chain.opened.catch(life.fail);
  // Creates the tables, because a standby needs the keys in them too.
  const engine = await openDatabase(getServerDatabase(config, contracts));
  await engine.close();
  const access = await openAccess(start);
  const redis = await openRedis(start);
  const feed = await openFeed(start, { redis, access });

  let isOurs = false;
  let active: Active | null = null;
  const fitness = new Fitness({
    clock,
    checkChain: () => active?.parts.intake.checks(0)["chain"] ?? chain.check(),
    readHead: () => chain.head,
    readWarnings: () => chain.status?.warnings ?? [],
    readStoreProblem: () => active?.parts.facts.engine.meter.insertProblem ?? null,
  });
  const names = redisNames(config.clickhouseDatabase);
  const lease = life.use(new Lease({ redis, names, fitness }));
  // `null` when the feed cannot be read, for example because Redis is down.
  const readActive = async (): Promise<ActiveIndexer | null> =>
    active === null
      ? feed.active().catch(() => null)
      : { node: nodeName(), term: active.publisher.term };
  const readCluster = async () => {
    const openClaims = active?.parts.facts.writer?.claims?.ends.length ?? 0;
    return indexingStatus(redis, await readActive(), active && { openClaims });
  };
  const metrics = openMetrics(start, access, readCluster);
  const readChecks = async (): Promise<Checks> => {
    const current = await readActive();
    const unknown = redis.isUp ? "no indexer is known" : "unknown, Redis is unavailable";
    const detail = current === null ? unknown : `${current.node}, term ${current.term}`;
    if (active !== null) {
      const checks = await readIntakeChecks(active.parts, metrics);
      return { ...checks, active: { ok: true, detail } };
    }
    if (isOurs) return { active: { ok: false, detail: "takes over: loads the stored facts" } };
    const isRefused = redis.isUp && lease.isRefused;
    const role = isRefused ? "cannot take over, Redis refuses to write" : "stands by";
    const standby = { ok: redis.isUp && !isRefused, detail: `${role}; active: ${detail}` };
    return { standby, chain: chain.check() };
  };
  const url = await serveOperations(start, { access, metrics }, readChecks);
  const onLost = () => life.fail(new StartAgainError("another indexer is active"));
  const activate = async () => {
    isOurs = await lease.take(onLost);
    if (!isOurs) return;
    active = await openActive(start, { metrics, chain, feed, lease });
    active.publisher.start();
    await startIndexing(start, active.parts);
  };
  activate().catch((thrown: unknown) => life.fail(toError(thrown)));
  return url;
}

async function openActive(start: RoleStart, standby: Standby): Promise<Active> {
  const { metrics, chain, feed, lease } = standby;
  // With a whole feed, the publisher compares the blocks served in earlier terms with the indexed ones.
  const head = await feed.head().catch(() => null);
  const facts = await openWrittenFacts(start, head?.isWhole);
  const state = await openState(start, facts);
  const table = new MetadataTable(facts.engine);
  const marketMetadata = openMetadata(start, state, (markets) =>
    table.write(markets, clock.nowMs()),
  );
  const readStatus = () => ({ head: chain.head, checks: intake.checks(0) });
  const named = { node: nodeName(), readStatus };
  const { config, log, life } = start;
  const publisher = life.use(new Publisher({ feed, lease, facts, ...named, log }));
  const followed = { source: chain, facts, state, subscribers: publisher };
  const intake: Intake = life.use(new Intake({ ...followed, config, log }));
  const auditor = await openAuditor(start, { facts, chain });
  const parts = { intake, chain, auditor, facts, state, books: null, marketMetadata };
  metrics.measure(parts);
  return { parts, publisher };
}
