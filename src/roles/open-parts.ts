/** Parts that several roles open. Each is closed with the lifetime that it is opened for. */
import type { AccessStore } from "../access/access-store.ts";
import { openAccess as openConfiguredAccess } from "../access/open-access.ts";
import {
  type MeasuredParts,
  type MetricsParts,
  ServiceMetrics,
} from "../api/metrics/service-metrics.ts";
import { closeOnError } from "../base/close-on-error.ts";
import type { Role } from "../base/config/config.ts";
import { StartAgainError, toError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { systemClock } from "../base/time/clock.ts";
import { AuditLog } from "../feed/audit-log.ts";
import { Auditor } from "../feed/auditor.ts";
import { ChainThread } from "../feed/chain-thread.ts";
import type { Checks } from "../feed/intake.ts";
import { logProgress } from "../feed/progress-log.ts";
import {
  getStartBlock,
  type IndexingStart,
  recordingStart,
  refuseEarlierStart,
} from "../feed/start-block.ts";
import { refuseUnidentified, tieDataDirectory } from "../storage/directory/data-directory.ts";
import { openFolder } from "../storage/embedded/open-folder.ts";
import type { Engine } from "../storage/engine/engine.ts";
import { DataDirectoryUnwritableError } from "../storage/engine/store-errors.ts";
import { readNamedContracts } from "../storage/read-delta.ts";
import { isDamaged } from "../storage/sqlite/sqlite-failure.ts";
import { OrderBooks } from "../venue/books/order-books.ts";
import { MarketMetadata, type PublishMetadata } from "../venue/metadata/market-metadata.ts";
import { dropMarketsFile, MarketsFile } from "../views/disk/markets-file.ts";
import { IndexedFacts } from "../views/indexed-facts.ts";
import { MarketState } from "../views/markets/market-state.ts";
import type { Lifetime } from "./lifetime.ts";

/** The parts of a process that indexes the chain. */
export type IndexingParts = MeasuredParts & {
  readonly chain: ChainThread;
  readonly auditor: Auditor;
};

/** The inputs of every role. The data directory belongs to the contracts. */
export type RoleStart = IndexingStart & {
  readonly role: Role;
  readonly log: Log;
  readonly life: Lifetime;
  /** Aborted when the process is asked to stop, also while it opens. */
  readonly stop: AbortSignal;
};

/** Opens the keys, limits and IP blocks of this process, or of its cluster, where the database must have its tables. */
export async function openAccess({ config, log, life }: RoleStart): Promise<AccessStore> {
  return life.use(await openConfiguredAccess(config, { use: "serve", log }));
}

/** Starts the chain thread. Call it before other slow steps, so that it queries nodes meanwhile. */
export function openChain(start: RoleStart): ChainThread {
  const { config, log, life } = start;
  const options = {
    urls: config.rpcUrls,
    callsPerSecondMax: config.rpcCallsPerSecond,
    minorityRule: config.rpcMinority,
    aheadSecondsMax: config.blocksAheadSecondsMax,
    chainId: config.chainId,
    startBlock: getStartBlock(start),
    contracts: start.contracts,
    logLevel: config.logLevel,
  };
  return life.use(ChainThread.start(options, log));
}

/**
 * Opens the facts in the configured engine, for the process that writes them. `isServedKnown`: see `ReorgLog.open`.
 * Throws `ConfigError` when the start block lies before what is stored.
 */
export async function openWrittenFacts(
  start: RoleStart,
  isServedKnown = false,
): Promise<IndexedFacts> {
  const { config, log, life, stop, startedAt } = start;
  const openEngine =
    config.clickhouseUrl === null
      ? (dataDir: string) => openFolder(dataDir, start.contracts)
      : () => openServer(start);
  const options = { isServedKnown, onWaiting: logWaiting(log), signal: stop };
  const facts = life.use(await IndexedFacts.open(config.dataDir, openEngine, options));
  const { coverage } = facts;
  if (config.clickhouseUrl === null) refuseUnidentified(config.dataDir, { startedAt, coverage });
  refuseEarlierStart(start, coverage);
  // The facts of a server can be older than the directory.
  if (coverage !== null && startedAt === null) await tieDataDirectory(start, startedAt);
  return facts;
}

/** Returns a function that logs why a start waits for the stored facts. */
export function logWaiting(log: Log): (reason: string) => void {
  return (reason) => log.warn({ reason }, "start waits until the stored facts can be read");
}

/** Opens the facts of the configured server, for a process that only reads them. */
export async function openReadFacts({
  config,
  contracts,
  log,
  life,
  stop,
}: RoleStart): Promise<IndexedFacts> {
  const { getServerDatabase } = await import("../storage/server/open-database.ts");
  const { FactReader } = await import("../storage/server/fact-reader.ts");
  const reader = await FactReader.open(getServerDatabase(config, contracts), {
    onWaiting: logWaiting(log),
    signal: stop,
  });
  return life.use(await IndexedFacts.load(reader));
}

/** Opens the configured server. Its code is loaded on demand. */
export async function openServer({
  config,
  contracts,
}: Pick<RoleStart, "config" | "contracts">): Promise<Engine> {
  const { openDatabase, getServerDatabase } = await import("../storage/server/open-database.ts");
  return openDatabase(getServerDatabase(config, contracts));
}

/** Opens the state of the markets: loads its copy and the facts stored since. Saves the copy again on close. */
export async function openState(start: RoleStart, facts: IndexedFacts): Promise<MarketState> {
  const { config, log, life } = start;
  const { file, state } = await loadState(start, facts).catch((thrown: unknown) => {
    if (!isDamaged(thrown)) throw thrown;
    dropMarketsFile(config.dataDir);
    return loadState(start, facts);
  });
  life.use(file);
  life.onClose(() => {
    try {
      state.save();
    } catch (thrown) {
      // The next start derives again what is not saved. A failure here must not keep other parts from closing.
      log.warn(
        { err: toError(thrown) },
        "copy of the markets could not be saved; the next start derives it from the facts",
      );
    }
  });
  return state;
}

async function loadState({ config, contracts, log, life }: RoleStart, facts: IndexedFacts) {
  const { coverage, store } = facts;
  const { repairs } = store;
  const options = { contracts, coverage, repairs, clock: systemClock };
  const file = MarketsFile.open(config.dataDir, options);
  return closeOnError(file, async () => {
    const state = new MarketState(contracts, file);
    await facts.loadView(state);
    file.startSaving(() => {
      log.error("copy of the markets is damaged; the service restarts to rebuild it");
      life.fail(new StartAgainError("the copy of the markets is damaged"));
    });
    return { file, state };
  });
}

/** Opens the order books of the venue; `null` without a venue. */
export function openBooks({ config, log, life }: RoleStart): OrderBooks | null {
  const { venue, venueRestUrl: restUrl, venueWsUrl: wsUrl } = config;
  if (venue === "none") return null;
  return life.use(OrderBooks.open({ restUrl, wsUrl, ...venueMeans(log) }));
}

/** Starts fetching market metadata from the venue into the state; `null` without a venue. */
export function openMetadata(
  { config, log, life }: RoleStart,
  state: MarketState,
  publish?: PublishMetadata,
): MarketMetadata | null {
  const { venue, venueMetadataUrl: baseUrl, venueMarketsMax: marketsMax } = config;
  if (venue === "none") return null;
  // The service works without market metadata, but not without its disk.
  const onFailure = (error: Error): void => {
    if (error instanceof DataDirectoryUnwritableError) life.fail(error);
  };
  const means = { ...venueMeans(log), onFailure };
  return life.use(
    MarketMetadata.open({ baseUrl, sink: state.venue, publish, marketsMax, ...means }),
  );
}

/**
 * Starts to index the chain from the end of the store, and to audit what is stored. Resolves once the nodes are
 * connected. Throws `WrongChainError` when a node serves another chain.
 */
export async function startIndexing(start: RoleStart, parts: IndexingParts): Promise<void> {
  const { startedAt, log, life } = start;
  const { chain, facts, intake, auditor } = parts;
  const resumeAfter = facts.coverage?.last ?? null;
  const named = await readNamedContracts(facts.engine, resumeAfter);
  await chain.follow({ resumeAfter, rangeEnds: facts.writer?.claims?.ends ?? [], named });
  const changes = chain.changes();
  const isRecorded = startedAt !== null || facts.coverage !== null;
  intake.start(isRecorded ? changes : recordingStart(changes, start), life.fail);
  auditor.start();
  life.onClose(logProgress(intake.progress, log));
}

/** Opens the auditor of stored blocks. The open store has carried out the ordered repairs. The caller starts it. */
export async function openAuditor(
  { config, log, life }: RoleStart,
  { facts, chain }: { readonly facts: IndexedFacts; readonly chain: ChainThread },
): Promise<Auditor> {
  const auditLog = await AuditLog.open(config.dataDir);
  await auditLog.markOrderedRepaired(systemClock.nowMs());
  return life.use(
    new Auditor({
      auditLog,
      facts,
      reread: (request) => chain.reread(request),
      endpoints: config.rpcUrls.length,
      unproven: () => chain.status?.unprovenBlocks ?? [],
      callsPerMinute: config.auditCallsPerMinute,
      clock: systemClock,
      log,
      onRepairOrdered: life.fail,
    }),
  );
}

/** Opens the metrics of this process. The caller adds the parts to measure. */
export function openMetrics(
  { role, config, log, life }: RoleStart,
  access: AccessStore,
  readCluster?: MetricsParts["readCluster"],
): ServiceMetrics {
  const { chainId } = config;
  const about = { role, chainId, access, clock: systemClock, log };
  return life.use(ServiceMetrics.open({ ...about, readCluster }));
}

/** Reads the readiness checks of a process that takes in changes. */
export async function readIntakeChecks(
  { intake, auditor }: Pick<MeasuredParts, "intake" | "auditor">,
  metrics: ServiceMetrics,
): Promise<Checks> {
  const checks = intake.checks(await metrics.readMissingBlocks());
  return auditor === null ? checks : { ...checks, audit: auditor.check() };
}

function venueMeans(log: Log) {
  return { clock: systemClock, random: Math.random, log };
}
