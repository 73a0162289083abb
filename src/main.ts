/**
 * Wires the parts together, starts them in the order of the data and stops them in the reverse.
 * Nothing here decides anything about the product.
 */
import { readFile } from "node:fs/promises";
import type { AccessStore } from "./access/access-store.ts";
import { Admission } from "./access/admission.ts";
import type { IpBlock } from "./access/ip-blocks.ts";
import { IpGuard } from "./access/ip-guard.ts";
import { openAccess } from "./access/open-access.ts";
import { buildExplorer } from "./api/explorer/build-explorer.ts";
import { explorerRoutes } from "./api/explorer/explorer-routes.ts";
import { guideRoutes } from "./api/guide/guide-routes.ts";
import { HttpServer } from "./api/http/server.ts";
import { bookTopsOf } from "./api/lists/book-tops.ts";
import { Cursors } from "./api/lists/cursor.ts";
import { ServiceMetrics } from "./api/metrics/service-metrics.ts";
import { scrapeMetrics } from "./api/routes/service/get-metrics.ts";
import { createRoutes } from "./api/routes.ts";
import { StreamServer } from "./api/stream/stream-server.ts";
import { type Config, ConfigError } from "./base/config/config.ts";
import { version } from "./base/config/version.ts";
import { toError } from "./base/errors.ts";
import type { Log } from "./base/log.ts";
import { type Clock, systemClock } from "./base/time/clock.ts";
import { type Contracts, parseContracts } from "./contracts/contracts.ts";
import { polygonContracts } from "./contracts/polygon-contracts.ts";
import { Auditor } from "./feed/auditor.ts";
import type { ChainThread } from "./feed/chain-thread.ts";
import type { Checks } from "./feed/indexer.ts";
import { Indexer, type IndexingStart, startChain } from "./feed/indexer.ts";
import { Progress } from "./feed/progress-log.ts";
import { StartLog } from "./feed/start-log.ts";
import { Pace } from "./feed/sync-progress.ts";
import { chooseEngine } from "./storage/choose-engine.ts";
import { claimDataFolder, releaseDataFolder } from "./storage/embedded/data-folder.ts";
import { DataFolderUnwritableError } from "./storage/embedded/data-folder-errors.ts";
import { Hub } from "./stream/hub/hub.ts";
import type { StreamQuotas } from "./stream/session/session.ts";
import { OrderBooks } from "./venue/books/order-books.ts";
import { MarketMetadata } from "./venue/metadata/market-metadata.ts";
import { MarketsFile } from "./views/disk/markets-file.ts";
import { IndexedFacts } from "./views/indexed-facts.ts";
import { MarketState } from "./views/markets/market-state.ts";

/** How to end what was started; called in the reverse order. */
type Ending = () => void | Promise<void>;

/** The running service. */
export class Service {
  /** Resolves with what only a restart can repair, if that ever happens. */
  readonly failed: Promise<Error>;
  readonly #endings: Ending[] = [];
  #url = "";
  readonly #fail: (error: Error) => void;

  private constructor() {
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#fail = resolve;
  }

  /**
   * Opens everything; resolves once requests are answered, while indexing goes on on its own.
   * Throws `ConfigError`, `WrongChainError`, `DataFolderBusyError` or `DataFolderDamagedError`,
   * with everything closed again.
   */
  static async open(config: Config, log: Log): Promise<Service> {
    const service = new Service();
    try {
      await service.#start(config, log);
      return service;
    } catch (thrown) {
      await service.close();
      throw thrown;
    }
  }

  /** Where requests are answered. */
  get url(): string {
    return this.#url;
  }

  /** Lets requests and the batch at hand finish, then closes everything. */
  async close(): Promise<void> {
    for (const end of this.#endings.splice(0).toReversed()) await end();
  }

  async #start(config: Config, log: Log): Promise<void> {
    const [clock, { dataDir }] = [systemClock, config];
    const times = new StartLog();
    const contracts = await readContracts(config.contractsFile);
    const startedAt = await claimDataFolder(dataDir, { chainId: config.chainId, contracts });
    const start = { config, contracts, startedAt };
    const chain = this.#startChain(start, log);
    const store = await IndexedFacts.open(dataDir, chooseEngine(config, contracts));
    this.#endings.push(() => store.close());
    this.#endings.push(() => (store.coverage === null ? releaseDataFolder(dataDir) : undefined));
    times.done("store");
    const access = await this.#openAccess(config, log);
    const state = await this.#openState({ store, contracts, dataDir, clock, log });
    times.done("state");
    const freshness = () => indexer.freshness();
    const { books, marketMetadata } = this.#openVenue(config, state, log);
    const bookTopOf = bookTopsOf(books, state);
    const hub = new Hub({ store, state, contracts, books, bookTopOf });
    const indexer = new Indexer({ ...start, chain, store, state, subscribers: hub, log });
    this.#endings.push(() => indexer.close());
    const auditor = this.#openAuditor({ config, store, indexer, log });
    const pace = new Pace({ read: () => indexer.standing(), clock });
    const venue = { books, marketMetadata };
    const measured = { indexer, auditor, pace, store, state, ...venue, audit: access.audit };
    const metrics = this.#openMetrics({ chainId: config.chainId, ...measured, log });

    const cursors = new Cursors(access.deriveSecret("cursors"));
    const routes = createRoutes({
      backend: { store, state, contracts, cursors, freshness, books, bookTopOf },
      access,
      clock,
      version,
      readChecks: () => readChecks({ indexer, auditor, metrics }),
      metrics,
      exportRowsMax: config.exportRowsMax,
      log,
    });
    const { host, port, metricsPort, corsOrigins } = config;
    const edge = () => ({ host, corsOrigins, admission: admissionOf(config, access), clock, log });
    const main = edge();
    const shown = { hub, keys: access.keys, quotas: quotasOf(config), freshness };
    const stream = StreamServer.open({ ...main, ...shown, meter: metrics.stream });
    this.#url = await this.#listenWith(stream, {
      ...main,
      port,
      routes: [...routes, ...guideRoutes(), ...explorerRoutes(buildExplorer)],
      observe: (observation) => metrics.requests.observe(observation),
    });
    times.done("listening");
    if (metricsPort !== null) {
      const own = { ...edge(), port: metricsPort, routes: [scrapeMetrics(metrics)] };
      log.info({ url: await this.#listen(own), path: "/metrics" }, "metrics for scrapers");
    }
    await indexer.start(this.#fail);
    times.report(log);
    auditor.start();
    const progress = Progress.start({ pace, log, stream: process.stderr });
    this.#endings.push(() => progress.stop());
  }

  #openMetrics(
    parts: Omit<Parameters<typeof ServiceMetrics.open>[0], "version" | "clock">,
  ): ServiceMetrics {
    const metrics = ServiceMetrics.open({ ...parts, version, clock: systemClock });
    this.#endings.push(() => metrics.close());
    return metrics;
  }

  async #openAccess(config: Config, log: Log): Promise<AccessStore> {
    const access = await openAccess(config, { isNode: true, log });
    this.#endings.push(() => access.close());
    return access;
  }

  /** Before everything else that takes long: nodes are asked meanwhile. */
  #startChain(start: IndexingStart, log: Log): ChainThread {
    const chain = startChain(start, log);
    this.#endings.push(() => chain.close());
    return chain;
  }

  /** The state of the markets, from their copy and what is stored since; saved again at the end. */
  async #openState(parts: {
    readonly store: IndexedFacts;
    readonly contracts: Contracts;
    readonly dataDir: string;
    readonly clock: Clock;
    readonly log: Log;
  }): Promise<MarketState> {
    const { store, contracts, dataDir, clock, log } = parts;
    const { coverage } = store;
    const file = MarketsFile.open(dataDir, { contracts, coverage, clock });
    this.#endings.push(() => file.close());
    const state = new MarketState(contracts, file);
    await store.loadView(state);
    file.startSaving();
    this.#endings.push(() => {
      try {
        state.save();
      } catch (thrown) {
        // What is not saved is made again at the next start; everything else has to be closed.
        log.warn({ err: toError(thrown) }, "the copy of the markets could not be saved");
      }
    });
    return state;
  }

  /** What is asked of the venue; nothing, when there is none. */
  #openVenue(config: Config, state: MarketState, log: Log) {
    const { venue, venueRestUrl: restUrl, venueWsUrl: wsUrl, venueMetadataUrl } = config;
    if (venue === "none") return { books: null, marketMetadata: null };
    const means = { clock: systemClock, random: Math.random, log };
    const books = OrderBooks.open({ restUrl, wsUrl, ...means });
    this.#endings.push(() => books.close());
    // The service does without the market metadata, but not without its disk.
    const onFailure = (error: Error): void => {
      if (error instanceof DataFolderUnwritableError) this.#fail(error);
    };
    const place = { baseUrl: venueMetadataUrl, keeper: state.venue, onFailure };
    const marketMetadata = MarketMetadata.open({ ...place, ...means });
    this.#endings.push(() => marketMetadata.close());
    return { books, marketMetadata };
  }

  #openAuditor(parts: {
    config: Config;
    store: IndexedFacts;
    indexer: Indexer;
    log: Log;
  }): Auditor {
    const { config, store, indexer, log } = parts;
    const auditor = Auditor.open({
      dataDir: config.dataDir,
      store,
      reread: (request) => indexer.reread(request),
      takeAnomalies: () => indexer.takeAnomalies(),
      endpoints: config.rpcUrls.length,
      callsPerMinute: config.auditCallsPerMinute,
      clock: systemClock,
      log,
      onRepairOrdered: this.#fail,
    });
    this.#endings.push(() => auditor.close());
    return auditor;
  }

  /** The stream ends before the server that carries it, which waits for its connections. */
  async #listenWith(
    stream: StreamServer,
    options: Omit<Parameters<typeof HttpServer.open>[0], "stream">,
  ): Promise<string> {
    try {
      const url = await this.#listen({ ...options, stream });
      this.#endings.push(() => stream.close());
      return url;
    } catch (thrown) {
      // Its timers would keep a process alive that cannot listen.
      await stream.close();
      throw thrown;
    }
  }

  async #listen(options: Parameters<typeof HttpServer.open>[0]): Promise<string> {
    const http = await HttpServer.open(options);
    this.#endings.push(() => http.close());
    return http.url;
  }
}

async function readChecks(parts: {
  readonly indexer: Indexer;
  readonly auditor: Auditor;
  readonly metrics: ServiceMetrics;
}): Promise<Checks> {
  const { indexer, auditor, metrics } = parts;
  return { ...indexer.checks(await metrics.readMissingBlocks()), audit: auditor.check() };
}

function quotasOf(config: Config): StreamQuotas {
  const { streamConnectionsRead: read, streamConnectionsWrite: write } = config;
  return {
    connectionsPerKey: { read, write, admin: config.streamConnectionsAdmin },
    connectionsPerIp: config.streamConnectionsIp,
    subscriptionsMax: config.streamSubscriptions,
  };
}

function admissionOf(config: Config, access: AccessStore): Admission {
  const { authFailuresMax, trustedProxies, connectionsPerIp } = config;
  const isPublicRead = config.publicRead === 1;
  const clock = systemClock;
  const onBlocked = ({ bucket }: IpBlock) =>
    access.audit.record({ action: "ip_blocked", ip: bucket, by: null });
  const { ipBlocks: blocks, offenceWindow: offences } = access;
  const options = { blocks, offences, clock, failuresMax: authFailuresMax, onBlocked };
  const guard = new IpGuard(options);
  return new Admission({ access, guard, clock, trustedProxies, connectionsPerIp, isPublicRead });
}

/** The contracts of the file, or those of Polygon. Throws `ConfigError` with every mistake. */
export async function readContracts(path: string | null): Promise<Contracts> {
  const input = path === null ? polygonContracts : await readJson(path);
  const parsed = parseContracts(input);
  if (!("mistakes" in parsed)) return parsed;
  throw new ConfigError(parsed.mistakes.map((mistake) => `ODDWIRE_CONTRACTS_FILE: ${mistake}`));
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (thrown) {
    const reason = `ODDWIRE_CONTRACTS_FILE cannot be read: ${toError(thrown).message}`;
    throw new ConfigError([reason]);
  }
}
