import { performance } from "node:perf_hooks";
import { Cursors } from "../api/lists/cursor.ts";
import { ServiceMetrics } from "../api/metrics/service-metrics.ts";
import { version } from "../base/config/version.ts";
import type { Log } from "../base/log.ts";
import { systemClock as clock } from "../base/time/clock.ts";
import { Indexer } from "../feed/indexer.ts";
import { logProgress } from "../feed/progress-log.ts";
import { SyncProgress } from "../feed/sync-progress.ts";
import { releaseDataFolder, releaseIfRefused } from "../storage/embedded/data-folder.ts";
import { Hub } from "../stream/hub/hub.ts";
import { serveEverything } from "./listen.ts";
import {
  openAccess,
  openAuditor,
  openBooks,
  openChain,
  openMetadata,
  openState,
  openWrittenFacts,
  type RoleStart,
  readIndexingChecks,
} from "./open-parts.ts";

/** Opens the role `serve`: indexes the chain and serves it in one process. Returns its URL. */
export async function openServe(start: RoleStart): Promise<string> {
  const { config, contracts, log, life } = start;
  const { dataDir, chainId } = config;
  const times = new StartLog();
  const chain = openChain(start);
  const store = await releaseIfRefused(dataDir, openWrittenFacts(start));
  life.onClose(() => (store.coverage === null ? releaseDataFolder(dataDir) : undefined));
  times.done("store");
  const access = await openAccess(start);
  const state = await openState(start, store);
  times.done("state");

  const books = openBooks(start);
  const marketMetadata = openMetadata(start, state);
  const hub = new Hub({ store, state, contracts, books });
  const indexer = new Indexer({ ...start, chain, store, state, subscribers: hub });
  life.onClose(() => indexer.close());
  const auditor = openAuditor(start, { store, chain });
  const progress = new SyncProgress({ read: () => indexer.syncStatus(), clock });
  const measured = { indexer, auditor, progress, store, state, books, marketMetadata };
  const about = { role: start.role, chainId, version, audit: access.audit, clock, log };
  const metrics = ServiceMetrics.open(about);
  metrics.measure(measured);
  life.onClose(() => metrics.close());

  const cursors = new Cursors(access.deriveSecret("cursors"), () => store.newestSeq);
  const freshness = () => indexer.freshness();
  const backend = { store, state, contracts, cursors, freshness, books };
  const readChecks = () => readIndexingChecks({ indexer, auditor, metrics });
  const url = await serveEverything(start, { hub, backend, access, metrics, readChecks });
  times.done("listening");
  await indexer.start(life.fail);
  times.report(log);
  auditor.start();
  life.onClose(logProgress(progress, log));
  return url;
}

/** Records when each step of a start was done, in milliseconds since the process began. */
class StartLog {
  readonly #doneAtMs: Record<string, number> = {};

  /** Records the first step: the modules are loaded. */
  constructor() {
    this.done("modules");
  }

  done(step: string): void {
    this.#doneAtMs[step] = Math.round(performance.now());
  }

  report(log: Log): void {
    this.done("connected");
    log.info({ done_at_ms: this.#doneAtMs }, "started");
  }
}
