/** The real routes over a real store with a recorded chain: some blocks are final, later ones are unfinalized. */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { Observation } from "../../src/api/metrics/request-meter.ts";
import { Cursors } from "../../src/api/route/cursor.ts";
import type { Route } from "../../src/api/route/route.ts";
import { createRoutes } from "../../src/api/routes.ts";
import { toFirstSeq } from "../../src/base/ids.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import type { ChainChange } from "../../src/feed/change.ts";
import { Pipeline } from "../../src/feed/pipeline.ts";
import { type BlockFacts, deriveBlockFacts } from "../../src/market/block-facts.ts";
import type { Fill } from "../../src/market/fill.ts";
import { describeId } from "../../src/query/markets/describe-id.ts";
import type { Freshness } from "../../src/rows/freshness.ts";
import { Hub } from "../../src/stream/hub/hub.ts";
import type { StreamQuotas } from "../../src/stream/session/session.ts";
import type { StreamMeter } from "../../src/stream/session/stream-meter.ts";
import { OrderBooks } from "../../src/venue/books/order-books.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { appendFacts } from "./append-facts.ts";
import { MemoryStateStore } from "./memory-state-store.ts";
import { openFacts } from "./open-facts.ts";
import {
  openTestServer,
  type RouteParts,
  type TestAnswer,
  type TestServer,
} from "./open-test-server.ts";
import { knownContracts, type RecordingName, readRecordedBlocks } from "./recorded-chain.ts";
import { writeSampleLake } from "./sample-lake.ts";
import { ScriptedVenue } from "./scripted-venue.ts";
import { encode } from "./store-chain.ts";
import { testMetrics } from "./test-metrics.ts";

/** A row as clients see it. */
export type Row = Readonly<Record<string, unknown>>;

/** A page of a list as clients see it. */
export type ListPage = {
  readonly data: readonly Row[];
  readonly pagination: {
    readonly limit: number;
    readonly has_more: boolean;
    readonly next_cursor: string | null;
  };
  readonly meta: Row;
};

type DataServerOptions = {
  readonly recording?: RecordingName;
  /** Facts to serve instead of a recording. */
  readonly facts?: readonly BlockFacts[];
  /** How many blocks are final at first, and how many blocks above them are unfinalized. */
  readonly finalBlocks?: number;
  readonly unfinalizedBlocks?: number;
  readonly trustedProxies?: readonly string[];
  readonly quotas?: StreamQuotas;
  /** Called with every response. */
  readonly observe?: (observation: Observation) => void;
  readonly exportRowsMax?: number;
  /** Opens the store; `openFacts` by default. */
  readonly openStore?: (dataDir: string) => Promise<IndexedFacts>;
};

type Readiness = { isReady: boolean };

const contracts = knownContracts();
const log = pino({ level: "silent" });
const pagesMax = 5000;

export class DataServer {
  /** The server itself, for raw requests, keys and the clock. */
  readonly edge: TestServer;
  readonly store: IndexedFacts;
  readonly state: MarketState;
  /** The facts of the whole chain, block by block. Later blocks are not served yet. */
  readonly facts: readonly BlockFacts[];
  readonly hub: Hub;
  /** The routes of the server. */
  readonly routes: readonly Route[];
  /** The source of order books. Every token has one there, at first empty. */
  readonly venue: ScriptedVenue;
  readonly lakeDir: string;
  readonly #books: OrderBooks;
  readonly #readiness: Readiness;
  readonly #pipeline: Pipeline;
  readonly #folder: string;

  private constructor(parts: {
    edge: TestServer;
    store: IndexedFacts;
    state: MarketState;
    facts: readonly BlockFacts[];
    hub: Hub;
    routes: readonly Route[];
    readiness: Readiness;
    folder: string;
    venue: ScriptedVenue;
    books: OrderBooks;
    lakeDir: string;
  }) {
    this.edge = parts.edge;
    this.store = parts.store;
    this.state = parts.state;
    this.facts = parts.facts;
    this.hub = parts.hub;
    this.routes = parts.routes;
    this.#readiness = parts.readiness;
    this.#folder = parts.folder;
    this.venue = parts.venue;
    this.lakeDir = parts.lakeDir;
    this.#books = parts.books;
    const { store, state, hub } = parts;
    this.#pipeline = new Pipeline({ facts: store, state, subscribers: hub, log });
  }

  /** By default serves generations 1 and 2, with final trades, unfinalized trades, and trades for `advance`. */
  static async open(options: DataServerOptions = {}): Promise<DataServer> {
    const { recording = "contracts-gen2", finalBlocks = 900, unfinalizedBlocks = 300 } = options;
    const facts = options.facts ?? readFacts(recording);
    const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
    const store = await (options.openStore ?? openFacts)(folder);
    const middle = Math.floor(finalBlocks / 2);
    // Two appends, so that candles of a minute are stored in several rows, as in a running service.
    await appendFacts(store, encode(facts.slice(0, middle)));
    await appendFacts(store, encode(facts.slice(middle, finalBlocks)));
    const state = new MarketState(contracts, new MemoryStateStore());
    await store.loadView(state);
    const readiness = { isReady: true };
    const venue = await ScriptedVenue.open({ hasEveryBook: true });
    const books = OrderBooks.open({ ...venue.urls, clock: systemClock, random: Math.random, log });
    const hub = new Hub({ facts: store, state, books });
    const lakeDir = await writeSampleLake(folder);
    let routes: readonly Route[] = [];
    const edge = await openTestServer({
      makeRoutes: (parts) => {
        const { exportRowsMax = 1_000_000 } = options;
        routes = makeRoutes(parts, { store, state, readiness, books, exportRowsMax, lakeDir });
        return routes;
      },
      freshness: () => getFreshness(store),
      trustedProxies: options.trustedProxies ?? [],
      authFailuresMax: 0,
      observe: options.observe ?? (() => {}),
      describeId: (id) => describeId(state.directory, id),
      hub,
      ...(options.quotas === undefined ? {} : { quotas: options.quotas }),
    });
    const served = { edge, store, state, facts, hub, routes, readiness, folder, venue, books };
    const parts = { ...served, lakeDir };
    const server = new DataServer(parts);
    await server.advance({
      unfinalized: (facts[0]?.number ?? 0) + finalBlocks + unfinalizedBlocks - 1,
    });
    return server;
  }

  /** Sets the only check of readiness. */
  set isReady(isReady: boolean) {
    this.#readiness.isReady = isReady;
  }

  get newestBlock(): number {
    return this.store.newestBlock ?? -1;
  }

  /** The newest final block. */
  get finalBlock(): number {
    return this.store.coverage?.last.number ?? -1;
  }

  /** Advances the chain: adds unfinalized blocks up to `unfinalized`, then finalizes up to `final`. */
  async advance(upTo: { readonly unfinalized?: number; readonly final?: number }): Promise<void> {
    const { unfinalized = -1, final } = upTo;
    const { newestBlock } = this;
    const blocks = this.facts.filter(({ number }) => number > newestBlock && number <= unfinalized);
    await this.report(blocks.map((block) => ({ kind: "block", block })));
    if (final !== undefined) await this.report([{ kind: "finalized", block: final }]);
  }

  /** Advances chain time with a block without logs. The recorded chain cannot continue after it. */
  async passTime(seconds: number): Promise<void> {
    const newest = this.store.headBuffer.newest;
    assert(newest !== null, "there is an unfinalized block");
    const { number, timestamp } = newest;
    const nothing = { fills: [], events: [], quarantined: [], anomalies: [] };
    const block = { ...newest, ...nothing, number: number + 1, timestamp: timestamp + seconds };
    await this.report([{ kind: "block", block }]);
  }

  /** Adds an unfinalized block after the newest block. */
  async hold(block: BlockFacts): Promise<void> {
    await this.report([{ kind: "block", block }]);
  }

  /** Counters of the stream. */
  get meter(): StreamMeter {
    return this.edge.meter;
  }

  /** Reverts every block above `safeBlock`, then adds `blocks`. */
  async fork(safeBlock: number, blocks: readonly BlockFacts[]): Promise<void> {
    const unfinalized = blocks.map((block): ChainChange => ({ kind: "block", block }));
    await this.report([{ kind: "revert", safeBlock }, ...unfinalized]);
  }

  /** All fills that are served now, in order. */
  get fills(): readonly Fill[] {
    const { newestBlock } = this;
    return this.facts.flatMap(({ number, fills }) => (number <= newestBlock ? fills : []));
  }

  /** Sends a `GET` with a read key whose limit is never reached. */
  async get(path: string): Promise<TestAnswer> {
    this.edge.clock.advance(100);
    return this.edge.request("GET", path, { key: this.edge.keys.read });
  }

  /** Returns the page in a response with status 200. */
  async getPage(path: string): Promise<ListPage> {
    const answer = await this.get(path);
    assert.equal(answer.status, 200, `GET ${path}: ${answer.text}`);
    return answer.body as ListPage;
  }

  /** Returns the rows of all pages. `between` runs before each page but the first. */
  async getAll(path: string, between?: () => Promise<void>): Promise<readonly Row[]> {
    const rows: Row[] = [];
    let page = await this.getPage(path);
    for (let pages = 1; pages < pagesMax; pages += 1) {
      rows.push(...page.data);
      const { has_more: hasMore, next_cursor: cursor, limit } = page.pagination;
      assert.equal(hasMore, cursor !== null, `has_more of ${path}`);
      if (cursor === null) return rows;
      assert.equal(page.data.length, limit, "a page that is not the last is full");
      await between?.();
      page = await this.getPage(`${path}${path.includes("?") ? "&" : "?"}cursor=${cursor}`);
    }
    throw new Error(`${path} has more than ${pagesMax} pages`);
  }

  async close(): Promise<void> {
    await this.edge.close();
    this.#books.close();
    await this.venue.close();
    await this.store.close();
    await rm(this.#folder, { recursive: true });
  }

  /** Applies changes as the pipeline does. */
  async report(change: readonly ChainChange[]): Promise<void> {
    await this.#pipeline.run(each(change));
  }
}

export function readFacts(recording: RecordingName): readonly BlockFacts[] {
  const decoder = new LogDecoder(contracts);
  return readRecordedBlocks(recording).map((block) => deriveBlockFacts(block, decoder));
}

function makeRoutes(
  { access, clock }: RouteParts,
  parts: {
    store: IndexedFacts;
    state: MarketState;
    readiness: Readiness;
    books: OrderBooks;
    exportRowsMax: number;
    lakeDir: string;
  },
): readonly Route[] {
  const { store, state, readiness, books, exportRowsMax, lakeDir } = parts;
  const freshness = () => getFreshness(store);
  const cursors = new Cursors(access.keys.deriveSecret("cursors"), () => store.newestSeq);
  return createRoutes({
    backend: { facts: store, state, cursors, freshness, books },
    access,
    clock,
    readChecks: () => ({ store: { ok: readiness.isReady, detail: "as the test says" } }),
    metrics: testMetrics(),
    exportRowsMax,
    lakeDir,
    log: pino({ level: "silent" }),
  });
}

function getFreshness(store: IndexedFacts): Freshness {
  const newest = store.newestBlock ?? -1;
  const { first } = store;
  return {
    first_block: first?.number ?? null,
    first_timestamp_ms: first === null ? null : first.timestamp * 1000,
    indexed_block: newest,
    indexed_seq: toFirstSeq(newest + 1) - 1,
    head_block: newest,
    finalized_block: store.coverage?.last.number ?? null,
    lag_seconds: 0,
  };
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item, void, undefined> {
  yield* items;
}
