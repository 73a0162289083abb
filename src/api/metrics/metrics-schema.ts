import { type Static, Type } from "typebox";
import { roles } from "../../base/config/config.ts";
import { nullable } from "../../rows/wire-format.ts";
import {
  amount,
  block,
  count,
  countsBy,
  flag,
  gauge,
  labeledBy,
  measured,
  prefixed,
  share,
} from "./metric-field.ts";

/** Latencies from the buckets of a histogram; `null` until something is measured. */
const latencyFields = { p50_ms: measured.plain, p95_ms: measured.plain, p99_ms: measured.plain };

const indexerSchema = Type.Object({
  chain_id: count.gauge("The chain that is followed"),
  head_block: block.gauge("The newest block that an endpoint reported"),
  indexed_block: block.gauge("The newest block indexed"),
  finalized_block: block.gauge("The newest final block"),
  lag_blocks: block.gauge("Head minus indexed block"),
  lag_seconds: block.gauge(
    "Chain time between the indexed block and the head; with a head older than 10 seconds, its age is added",
  ),
  head_age_seconds: measured.gauge("Since the head last rose, at the active indexer"),
  block_arrival_seconds: measured.gauge(
    "By the clock of this machine, the least time from a block to its arrival, of the newest 20; negative if the clock is late",
  ),
  coverage: nullable(
    Type.Object({
      from_block: count.gauge("The first block stored"),
      to_block: count.gauge("The last block stored"),
    }),
  ),
  gaps: block.gauge(
    "Blocks within the coverage that are not stored; not 0 only in a damaged directory",
  ),
  unfinalized_blocks: count.gauge("Unfinalized blocks, in memory"),
  warnings: Type.Array(
    Type.String(),
    gauge("1 for each warning that is raised", "warning", { name: "indexer_warning" }),
  ),
  events: countsBy("kind").counter("Events by kind; fills are order_filled"),
  trades: count.counter("Trades"),
  events_per_second: measured.gauge("Events per second over the last 5 seconds"),
  match_anomalies: countsBy("kind").counter(
    "Matches that break a rule, by rule, and ledger_differs_from_transfers: transfers that no cause explains",
  ),
  ledger_rows: countsBy("kind").counter("Changes of tokens of wallets, by cause"),
  quarantined_logs: countsBy("reason").counter("Logs that could not be decoded, by reason"),
  reorgs: count.counter("Reorganizations that reverted blocks"),
  deepest_reorg_blocks: count.gauge("The most blocks one reorganization reverted"),
  bloom_false_positives: count.counter(
    "Blocks whose bloom suggested logs, and whose receipts have none",
  ),
  unknown_contracts: count.gauge("Contracts that Polymarket uses and that are not configured"),
  // Counts since the data directory was created. All other counts are since the start of the process.
  audit: Type.Object(
    {
      ranges: count.counter(
        "Stored ranges that were audited, since the data directory was created",
      ),
      blocks: count.counter("Stored blocks that were audited"),
      rounds: count.counter("Complete rounds of the audit"),
      round_progress_ratio: share.gauge("The share of stored blocks audited in this round"),
      from_block: block.gauge("First block audited without a gap in this round"),
      to_block: block.gauge("Last block audited without a gap in this round"),
      mismatches: count.counter("Ranges in which a node and the store differed, proven or not"),
      false_alarms: count.counter(
        "Ranges in which an endpoint differed from the store and receipts confirmed the store",
      ),
      repairs: count.counter("Ranges that were proven corrupt and repaired"),
      unverified_ranges: count.gauge("Ranges with a mismatch that is not proven yet"),
      corrupt_ranges: count.gauge(
        "Ranges that are proven corrupt and not repaired; the service is not ready",
      ),
    },
    prefixed("audit"),
  ),
  backfill: nullable(
    Type.Object(
      {
        from_block: count.gauge("First block of the backfill; absent while the head is followed"),
        to_block: count.gauge("Last block of the backfill: the head"),
        progress_ratio: share.gauge("The share of the backfill that is done"),
        blocks_per_second: measured.gauge("Blocks per second over the last 5 seconds"),
        remaining_seconds: measured.gauge("Estimated time to the end of the backfill"),
      },
      prefixed("backfill"),
    ),
    { description: "null while the head is followed" },
  ),
  endpoints: Type.Array(
    Type.Object({
      host: Type.String({ description: "Host and port, never the URL" }),
      requests: count.counter("Requests sent, of one call or several"),
      calls: count.counter("JSON-RPC calls sent"),
      errors: count.counter("Requests that failed: no response, a broken one, or a 5xx"),
      rate_limited: count.counter("Requests refused because of the rate"),
      invalid_responses: count.counter("Responses that contradicted themselves or the chain"),
      latency_ms: measured.gauge("Sliding average of small requests"),
      breaker_state: Type.Enum(
        ["closed", "open", "half_open"],
        gauge("1 for the state that the breaker is in, 0 for the others", "state"),
      ),
      calls_per_second_max: measured.gauge(
        "The learned or configured rate limit; absent without one",
      ),
      range_blocks: count.gauge("Blocks per request"),
      range_blocks_max: block.gauge(
        "The provider's cap on blocks per request; absent while unknown",
      ),
      head_block: block.gauge("The newest block that it reported"),
    }),
    { ...labeledBy("host"), ...prefixed("rpc") },
  ),
});

const apiSchema = Type.Object(
  {
    requests: count.plain,
    errors: count.counter("Responses with 5xx"),
    refusals: countsBy("code").counter("Requests refused, by code of the error"),
    access_changes: countsBy("action").counter("Changes of keys and IP blocks, by action", {
      name: "access_changes_total",
    }),
    routes: Type.Array(
      Type.Object({
        method: Type.String(),
        route: Type.String({ description: "The pattern, never the path" }),
        statuses: countsBy("status").counter("Requests, by status of the response", {
          name: "http_requests_total",
        }),
        ...latencyFields,
      }),
      labeledBy("method", "route"),
    ),
  },
  prefixed("http"),
);

const streamSchema = Type.Object({
  connections: count.gauge("Clients connected to the stream"),
  subscriptions: count.gauge("Subscriptions of all connections"),
  messages: count.counter("Events sent, to all clients together"),
  sent_bytes: count.counter("Bytes of those events, as sent"),
  replayed_messages: count.counter("Events of them that were replayed from the store"),
  slow_closes: count.counter("Connections closed because the client was slow or silent"),
});

const operationSchema = (operation: string) =>
  Type.Object({
    count: count.plain,
    failures: count.counter("Queries and inserts that failed or were refused", {
      name: "store_failures_total",
      labels: { operation },
    }),
    ...latencyFields,
  });

const storeSchema = Type.Object({
  tables: nullable(
    Type.Array(
      Type.Object({
        table: Type.String(),
        rows: count.gauge("Rows of a table"),
        bytes: count.gauge("Bytes of a table on disk"),
        parts: count.gauge("Parts of a table"),
      }),
      { ...labeledBy("table"), ...prefixed("store") },
    ),
    { description: "null when the store cannot know" },
  ),
  queries: operationSchema("query"),
  inserts: operationSchema("insert"),
  answered_by: Type.Array(
    Type.Object({
      query: Type.String({ description: "The kind of query", examples: ["trades"] }),
      source: Type.String({ examples: ["engine"] }),
      answers: count.counter("Queries by the last source that was needed: views, head or engine", {
        name: "query_reads_total",
      }),
    }),
    labeledBy("query", "source"),
  ),
});

const accessSchema = Type.Object({
  key_version: count.gauge("The version of API keys in force"),
  keys_verified: count.gauge("1 while keys are known to be current; 0 refuses them with 503"),
  live_nodes: count.gauge("Nodes that share limits and keys"),
  clock_offset_seconds: measured.gauge(
    "The largest difference between the clock of this machine and those of Redis and ClickHouse",
  ),
  limits_inexact_seconds: measured.counter(
    "Seconds in which limits were not exact: without Redis, or until it had a whole minute of requests",
    { name: "limits_inexact_seconds_total" },
  ),
});

const clusterSchema = Type.Object(
  {
    indexer_active: flag.gauge("1 while this process is the active indexer, else 0"),
    active_node: nullable(
      Type.String(),
      gauge("Always 1; the label names the active indexer", "node", {
        name: "indexer_active_info",
      }),
    ),
    feed_term: block.gauge("How often an indexer has become active since Redis was empty"),
    feed_age_seconds: measured.gauge("On a serving node, since the newest message of the indexer"),
    feed_has_gap: flag.gauge(
      "1 while a serving node misses blocks of the feed and follows final facts alone, else 0",
      { name: "feed_gap_state" },
    ),
    indexer_open_claims: count.gauge(
      "Claims of blocks that the active indexer has not committed yet",
    ),
    redis_up: flag.gauge("1 while this process is connected to Redis, else 0"),
    redis_down_seconds: amount.counter("Seconds without Redis since the start of the process"),
  },
  prefixed(""),
);

const booksSchema = Type.Object(
  {
    source: Type.String({ examples: ["polymarket"] }),
    in_memory: count.gauge("Order books in memory"),
    stale: count.gauge("Order books that may differ from the venue's"),
    followed: count.gauge("Order books that clients of the stream follow"),
    hash_check_enabled: countsBy("kind").gauge(
      "1 while the venue's hashes are checked, else 0, by kind of order book",
    ),
    resyncs: countsBy("reason").counter("Order books that were requested again, by reason"),
    changes: count.counter("Changed levels received from the stream"),
    snapshots: count.counter("Whole order books received from the stream"),
    unreadable: count.counter("Messages of the stream that could not be parsed"),
    hashes_proven: countsBy("kind").counter(
      "Hashes that confirmed an order book, by kind of order book",
    ),
    hash_false_positives: countsBy("kind").counter(
      "Hashes that differed for an order book that was correct, by kind of order book",
    ),
    requests: count.counter("Requests to the venue for order books", {
      name: "venue_requests_total",
    }),
    errors: countsBy("kind").counter("Requests to the venue that failed, by kind", {
      name: "venue_errors_total",
    }),
    connections_open: count.gauge("Connections to the venue's stream that are open", {
      name: "venue_connections",
    }),
    connections: count.counter("Connections to the venue's stream made", {
      name: "venue_connections_total",
    }),
  },
  prefixed("orderbooks"),
);

const metadataSchema = Type.Object(
  {
    markets: count.gauge("Markets with metadata from the venue"),
    markets_missing: count.gauge("Markets whose metadata was not requested yet"),
    age_seconds: block.gauge("Time since all open markets were last read; absent until then"),
    up: flag.gauge("1 while the venue's metadata API responds, else 0"),
    tokens_unknown: count.gauge("Traded tokens whose market is not known yet"),
    claims_refused: count.counter("Markets of the venue that the token ids did not prove"),
    contradictions: countsBy("kind").gauge(
      "Markets whose metadata contradicts the chain, by kind; the chain is served",
    ),
    requests: count.counter("Requests for market metadata"),
    pages: count.counter("Pages of market metadata that were read, without requests by id"),
    unreadable: count.counter("Entries without the id of a market"),
    errors: countsBy("kind").counter("Requests that failed, by kind"),
  },
  prefixed("metadata"),
);

const cpu = (mode: string) => amount.counter(`Processor time of all threads in ${mode} mode`);
const lag = (what: string, quantile: string) =>
  amount.gauge(`${what} delay of timers in the last 10 seconds`, {
    name: `nodejs_eventloop_lag_${quantile}_seconds`,
  });

const processSchema = Type.Object({
  memory: Type.Object(
    {
      resident_memory_bytes: count.gauge("Resident memory, with the embedded engine"),
      heap_used_bytes: count.gauge("Heap of the main thread in use", {
        name: "nodejs_heap_size_used_bytes",
      }),
      heap_total_bytes: count.gauge("Heap of the main thread reserved", {
        name: "nodejs_heap_size_total_bytes",
      }),
      external_memory_bytes: count.gauge("Buffers outside the heap", {
        name: "nodejs_external_memory_bytes",
      }),
    },
    prefixed("process"),
  ),
  open_fds: block.gauge("Open files and connections; not known on macOS", {
    name: "process_open_fds",
  }),
  cpu_user_seconds: cpu("user"),
  cpu_system_seconds: cpu("system"),
  event_loop_lag: Type.Object({
    p50_ms: lag("Median", "p50"),
    p99_ms: lag("p99 of the", "p99"),
    max_ms: lag("Longest", "max"),
  }),
  garbage_collections: count.counter("Runs of the garbage collector in the main thread", {
    name: "nodejs_gc_runs_total",
  }),
  garbage_collection_seconds: amount.counter("Time spent in garbage collection", {
    name: "nodejs_gc_seconds_total",
  }),
});

const readingSchema = Type.Object({
  timestamp_ms: Type.Integer({ description: "When it was read, in Unix milliseconds" }),
  lag_seconds: block.plain,
  events_per_second: measured.plain,
  stream_connections: Type.Integer({ description: "Clients connected to the stream" }),
  resident_memory_bytes: count.plain,
  event_loop_lag_p99_ms: amount.plain,
  query_p99_ms: measured.plain,
});

/** The metrics that have a history, as they were at one time. */
export type MetricsReading = Static<typeof readingSchema>;

/** All metrics. Counts are since the start of the process unless noted. */
export const metricsSchema = Type.Object({
  uptime_seconds: amount.gauge("Since the start of the process"),
  version: Type.String(
    gauge("Always 1; the label reports the version", "version", { name: "build_info" }),
  ),
  role: Type.Enum([...roles], gauge("1 for the role of this process, 0 for the others", "role")),
  indexer: indexerSchema,
  api: apiSchema,
  stream: streamSchema,
  store: storeSchema,
  cluster: nullable(clusterSchema, { description: "null outside a cluster" }),
  access: nullable(accessSchema, { description: "null outside a cluster" }),
  books: nullable(booksSchema, { description: "null without a source of books" }),
  market_metadata: nullable(metadataSchema, {
    description: "null on a process that does not ask a venue",
  }),
  process: processSchema,
  history: Type.Optional(
    Type.Array(readingSchema, {
      description: "One reading for every 30 seconds of the last hour, oldest first",
    }),
  ),
});

/** One reading of all metrics. */
export type Metrics = Static<typeof metricsSchema>;
