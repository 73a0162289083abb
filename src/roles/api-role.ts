import { systemClock as clock } from "../base/time/clock.ts";
import { FeedFollower } from "../feed/cluster/feed-follower.ts";
import { MetadataReader } from "../feed/cluster/metadata-reader.ts";
import { Intake } from "../feed/intake.ts";
import { tieDataDirectory } from "../storage/directory/data-directory.ts";
import { FactReader } from "../storage/server/fact-reader.ts";
import { MetadataTable } from "../storage/server/metadata-table.ts";
import { getServerDatabase } from "../storage/server/open-database.ts";
import { Hub } from "../stream/hub/hub.ts";
import { IndexedFacts } from "../views/indexed-facts.ts";
import { openFeed, openRedis, servingStatus } from "./cluster-parts.ts";
import { serveEverything } from "./listen.ts";
import { logWaiting, openAccess, openBooks, openState, type RoleStart } from "./open-parts.ts";

/** Opens the role `api`: serves the facts that an indexer in another process stores and publishes. Returns its URL. */
export async function openApi(start: RoleStart): Promise<string> {
  const { config, contracts, log, life, stop } = start;
  const target = getServerDatabase(config, contracts);
  const reader = await FactReader.open(target, { onWaiting: logWaiting(log), signal: stop });
  await tieDataDirectory(start, start.startedAt);
  const access = await openAccess(start);
  const redis = await openRedis(start);
  const feed = await openFeed(start, { redis, access });
  const facts = life.use(await IndexedFacts.load(reader));
  const state = await openState(start, facts);

  const books = openBooks(start);
  const hub = new Hub({ facts, state, books });
  const follower = new FeedFollower({ feed, reader, facts, log });
  const followed = { source: follower, facts, state, subscribers: hub };
  const intake = life.use(new Intake({ ...followed, config, log }));
  const table = new MetadataTable(facts.engine);
  const { headBuffer } = facts;
  life.use(MetadataReader.start({ table, ledger: state.venue, headBuffer, clock, log }));
  intake.start(follower.changes(), life.fail);
  const parts = { intake, chain: null, auditor: null, facts, state, books, marketMetadata: null };
  const readCluster = async () => servingStatus(redis, follower.status);
  return serveEverything(start, { access, hub, parts, readCluster });
}
