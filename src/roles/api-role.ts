import { Cursors } from "../api/lists/cursor.ts";
import { ServiceMetrics } from "../api/metrics/service-metrics.ts";
import { version } from "../base/config/version.ts";
import { systemClock as clock } from "../base/time/clock.ts";
import { FeedFollower } from "../feed/cluster/feed-follower.ts";
import { MetadataFollower } from "../feed/cluster/metadata-follower.ts";
import { Replica } from "../feed/cluster/replica.ts";
import { SyncProgress } from "../feed/sync-progress.ts";
import { releaseIfRefused } from "../storage/embedded/data-folder.ts";
import { FactReader } from "../storage/server/fact-reader.ts";
import { MetadataTable } from "../storage/server/metadata-table.ts";
import { serverPlaceOf } from "../storage/server/open-database.ts";
import { Hub } from "../stream/hub/hub.ts";
import { IndexedFacts } from "../views/indexed-facts.ts";
import { openFeed, openRedis, servingStatus } from "./cluster-parts.ts";
import { serveEverything } from "./listen.ts";
import { openAccess, openBooks, openState, type RoleStart } from "./open-parts.ts";

/** Opens the role `api`: serves the facts that an indexer in another process stores and publishes. Returns its URL. */
export async function openApi(start: RoleStart): Promise<string> {
  const { config, contracts, log, life } = start;
  const { chainId, dataDir } = config;
  const reader = await releaseIfRefused(dataDir, openReader(start));
  const access = await openAccess(start);
  const redis = await openRedis(start);
  const feed = await openFeed(start, { redis, access });
  const store = await IndexedFacts.load(reader);
  life.onClose(() => store.close());
  const state = await openState(start, store);

  const books = openBooks(start);
  const hub = new Hub({ store, state, contracts, books });
  const follower = new FeedFollower({ feed, reader, facts: store, log });
  const replica = new Replica({ config, store, state, subscribers: hub, follower, log });
  life.onClose(() => replica.close());
  const progress = new SyncProgress({ read: () => replica.syncStatus(), clock });
  const measured = { indexer: replica, auditor: null, progress, store, state, books };
  const readCluster = async () => servingStatus(redis, follower.status);
  const about = { role: start.role, chainId, version, audit: access.audit, clock, log };
  const metrics = ServiceMetrics.open({ ...about, readCluster });
  metrics.measure({ ...measured, marketMetadata: null });
  life.onClose(() => metrics.close());

  const cursors = new Cursors(access.deriveSecret("cursors"), () => store.newestSeq);
  const freshness = () => replica.freshness();
  const backend = { store, state, contracts, cursors, freshness, books };
  const readChecks = async () => replica.checks(await metrics.readMissingBlocks());
  const table = new MetadataTable(store.engine);
  const { headBuffer } = store;
  const taking = { table, ledger: state.venue, headBuffer, clock, log };
  const metadata = MetadataFollower.start(taking);
  life.onClose(() => metadata.close());
  replica.start(life.fail);
  return serveEverything(start, { hub, backend, access, metrics, readChecks });
}

async function openReader({ config, contracts, log, stop }: RoleStart): Promise<FactReader> {
  return FactReader.open(serverPlaceOf(config, contracts), {
    dataDir: config.dataDir,
    signal: stop,
    onWaiting: (reason) => log.warn({ reason }, "waiting for the facts"),
  });
}
