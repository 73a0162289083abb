import { performance } from "node:perf_hooks";
import type { Log } from "../base/log.ts";
import { releaseDataFolder, releaseIfRefused } from "../storage/embedded/data-folder.ts";
import { Hub } from "../stream/hub/hub.ts";
import { serveEverything } from "./listen.ts";
import {
  openAccess,
  openAuditor,
  openBooks,
  openChain,
  openIntake,
  openMetadata,
  openState,
  openWrittenFacts,
  type RoleStart,
  startIndexing,
} from "./open-parts.ts";

/** Opens the role `serve`: indexes the chain and serves it in one process. Returns its URL. */
export async function openServe(start: RoleStart): Promise<string> {
  const { config, log, life } = start;
  const { dataDir } = config;
  const times = new StartLog();
  const chain = openChain(start);
  const facts = await releaseIfRefused(dataDir, openWrittenFacts(start));
  life.onClose(() => (facts.coverage === null ? releaseDataFolder(dataDir) : undefined));
  times.done("store");
  const access = await openAccess(start);
  const state = await openState(start, facts);
  times.done("state");

  const books = openBooks(start);
  const marketMetadata = openMetadata(start, state);
  const hub = new Hub({ facts, state, books });
  const intake = openIntake(start, { source: chain, facts, state, subscribers: hub });
  const auditor = openAuditor(start, { facts, chain });
  const parts = { intake, chain, auditor, facts, state, books, marketMetadata };
  const url = await serveEverything(start, { access, hub, parts });
  times.done("listening");
  await startIndexing(start, parts);
  times.report(log);
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
