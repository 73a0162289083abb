import { type Static, Type } from "typebox";
import { roles } from "../../base/config/config.ts";
import { accessSchema, clusterSchema } from "./access-schema.ts";
import {
  amount,
  block,
  count,
  countsBy,
  flag,
  gauge,
  labeledBy,
  measured,
  share,
} from "./metric-field.ts";

/** `null` until something was measured; read from the buckets of the histogram. */
const latencyFields = { p50_ms: measured.plain, p95_ms: measured.plain, p99_ms: measured.plain };

const indexerSchema = Type.Object({
  chain_id: count.gauge("indexer_chain_id", "The chain that is followed"),
  head_block: block.gauge("indexer_head_block", "The newest block that an endpoint reported"),
  indexed_block: block.gauge("indexer_indexed_block", "The newest block indexed"),
  finalized_block: block.gauge("indexer_finalized_block", "The newest final block"),
  lag_blocks: block.gauge("indexer_lag_blocks", "Head less indexed block"),
  lag_seconds: block.gauge(
    "indexer_lag_seconds",
    "Chain time between the indexed block and the head",
  ),
  coverage: Type.Union([
    Type.Object({
      from_block: count.gauge("indexer_coverage_from_block", "The first block stored"),
      to_block: count.gauge("indexer_coverage_to_block", "The last block stored"),
    }),
    Type.Null(),
  ]),
  gaps: block.gauge(
    "indexer_gaps",
    "Blocks within the coverage that are not stored; not 0 only in a damaged directory",
  ),
  unfinalized_blocks: count.gauge("indexer_unfinalized_blocks", "Unfinalized blocks, in memory"),
  warnings: Type.Array(
    Type.String(),
    gauge("indexer_warning", "1 for each warning that is raised", "warning"),
  ),
  events: countsBy("kind").counter(
    "indexer_events_total",
    "Events by kind; fills are order_filled",
  ),
  trades: count.counter("indexer_trades_total", "Trades"),
  events_per_second: measured.gauge(
    "indexer_events_per_second",
    "Events per second over the last 5 seconds",
  ),
  match_anomalies: countsBy("kind").counter(
    "indexer_match_anomalies_total",
    "Matches that break a rule, by rule",
  ),
  quarantined_logs: countsBy("reason").counter(
    "indexer_quarantined_logs_total",
    "Logs that could not be decoded, by reason",
  ),
  reorgs: count.counter("indexer_reorgs_total", "Reorganizations that reverted blocks"),
  deepest_reorg_blocks: count.gauge(
    "indexer_deepest_reorg_blocks",
    "The most blocks one reorganization reverted",
  ),
  bloom_false_positives: count.counter(
    "indexer_bloom_false_positives_total",
    "Blocks whose bloom suggested logs, and whose receipts have none",
  ),
  // Since the data folder was made, unlike the other counts.
  audit: Type.Object({
    ranges: count.counter(
      "audit_ranges_total",
      "Stored ranges that were audited, since the data directory was created",
    ),
    blocks: count.counter("audit_blocks_total", "Stored blocks that were audited"),
    rounds: count.counter("audit_rounds_total", "Complete rounds of the audit"),
    round_progress: share.gauge(
      "audit_round_progress_ratio",
      "The share of stored blocks audited in this round",
    ),
    audited_from_block: block.gauge(
      "audit_from_block",
      "First block audited without a gap in this round",
    ),
    audited_to_block: block.gauge(
      "audit_to_block",
      "Last block audited without a gap in this round",
    ),
    mismatches: count.counter(
      "audit_mismatches_total",
      "Ranges in which a node and the store differed, proven or not",
    ),
    false_alarms: count.counter(
      "audit_false_alarms_total",
      "Ranges in which an endpoint differed from the store and receipts confirmed the store",
    ),
    repairs: count.counter("audit_repairs_total", "Ranges that were proven corrupt and repaired"),
    unverified_ranges: count.gauge(
      "audit_unverified_ranges",
      "Ranges with a mismatch that is not proven yet",
    ),
    corrupt_ranges: count.gauge(
      "audit_corrupt_ranges",
      "Ranges that are proven corrupt and not repaired; the service is not ready",
    ),
  }),
  backfill: Type.Union(
    [
      Type.Object({
        from_block: count.gauge(
          "backfill_from_block",
          "First block of the backfill; absent while the head is followed",
        ),
        to_block: count.gauge("backfill_to_block", "Last block of the backfill: the head"),
        progress: share.gauge("backfill_progress_ratio", "The share of the backfill that is done"),
        blocks_per_second: measured.gauge(
          "backfill_blocks_per_second",
          "Blocks per second over the last 5 seconds",
        ),
        seconds_left: measured.gauge(
          "backfill_remaining_seconds",
          "Estimated time to the end of the backfill",
        ),
      }),
      Type.Null(),
    ],
    { description: "null while the head is followed" },
  ),
  endpoints: Type.Array(
    Type.Object({
      host: Type.String({ description: "Host and port, never the URL" }),
      requests: count.counter("rpc_requests_total", "Requests sent, of one call or several"),
      calls: count.counter("rpc_calls_total", "JSON-RPC calls sent"),
      errors: count.counter(
        "rpc_errors_total",
        "Requests that failed: no response, a broken one, or a 5xx",
      ),
      rate_limited: count.counter("rpc_rate_limited_total", "Requests refused because of the rate"),
      bad_answers: count.counter(
        "rpc_invalid_responses_total",
        "Responses that contradicted themselves or the chain",
      ),
      latency_ms: measured.gauge("rpc_latency_seconds", "Sliding average of small requests"),
      breaker: Type.Enum(
        ["closed", "open", "half_open"],
        gauge(
          "rpc_breaker_state",
          "1 for the state that the breaker is in, 0 for the others",
          "state",
        ),
      ),
      calls_per_second: measured.gauge(
        "rpc_calls_per_second_max",
        "The learned or configured rate limit; absent without one",
      ),
      range_blocks: count.gauge("rpc_range_blocks", "Blocks per request"),
      range_blocks_cap: block.gauge(
        "rpc_range_blocks_max",
        "The provider's cap on blocks per request; absent while unknown",
      ),
      head_block: block.gauge("rpc_head_block", "The newest block that it reported"),
    }),
    labeledBy("host"),
  ),
});

const apiSchema = Type.Object({
  requests: count.plain,
  errors: count.counter("http_errors_total", "Responses with 5xx"),
  refusals: countsBy("code").counter(
    "http_refusals_total",
    "Requests refused, by code of the error",
  ),
  access_changes: countsBy("action").counter(
    "access_changes_total",
    "Changes of keys and IP blocks, by action",
  ),
  routes: Type.Array(
    Type.Object({
      method: Type.String(),
      route: Type.String({ description: "The pattern, never the path" }),
      statuses: countsBy("status").counter(
        "http_requests_total",
        "Requests, by status of the response",
      ),
      ...latencyFields,
    }),
    labeledBy("method", "route"),
  ),
});

const streamSchema = Type.Object({
  connections: count.gauge("stream_connections", "Clients connected to the stream"),
  subscriptions: count.gauge("stream_subscriptions", "Subscriptions of all connections"),
  messages: count.counter("stream_messages_total", "Events sent, to all clients together"),
  bytes: count.counter("stream_sent_bytes_total", "Bytes of those events, as sent"),
  replayed_messages: count.counter(
    "stream_replayed_messages_total",
    "Events of them that were replayed from the store",
  ),
  slow_closes: count.counter(
    "stream_slow_closes_total",
    "Connections closed because the client was slow or silent",
  ),
});

const operationSchema = (operation: string) =>
  Type.Object({
    count: count.plain,
    failures: count.counter(
      "store_failures_total",
      "Queries and inserts that failed or were refused",
      {
        labels: { operation },
      },
    ),
    ...latencyFields,
  });

const storeSchema = Type.Object({
  tables: Type.Union(
    [
      Type.Array(
        Type.Object({
          table: Type.String(),
          rows: count.gauge("store_rows", "Rows of a table"),
          bytes: count.gauge("store_bytes", "Bytes of a table on disk"),
          parts: count.gauge("store_parts", "Parts of a table"),
        }),
        labeledBy("table"),
      ),
      Type.Null(),
    ],
    { description: "null when the store cannot know" },
  ),
  queries: operationSchema("query"),
  inserts: operationSchema("insert"),
  answered_by: Type.Array(
    Type.Object({
      question: Type.String({ description: "The kind of query", examples: ["trades"] }),
      source: Type.String(),
      answers: count.counter(
        "query_reads_total",
        "Queries by the last source that was needed: views, head, recent or engine",
      ),
    }),
    labeledBy("question", "source"),
  ),
});

const booksSchema = Type.Object({
  source: Type.String(),
  in_memory: count.gauge("orderbooks_in_memory", "Order books in memory"),
  stale: count.gauge("orderbooks_stale", "Order books that may differ from the venue's"),
  followed: count.gauge("orderbooks_followed", "Order books that clients of the stream follow"),
  hashes_usable: flag.gauge(
    "orderbooks_hash_check_enabled",
    "1 while the venue's hashes are checked, else 0",
  ),
  resyncs: countsBy("reason").counter(
    "orderbooks_resyncs_total",
    "Order books that were requested again, by reason",
  ),
  changes: count.counter("orderbooks_changes_total", "Changed levels received from the stream"),
  snapshots: count.counter(
    "orderbooks_snapshots_total",
    "Whole order books received from the stream",
  ),
  unreadable: count.counter(
    "orderbooks_unreadable_total",
    "Messages of the stream that could not be parsed",
  ),
  hashes_proven: count.counter(
    "orderbooks_hashes_proven_total",
    "Hashes that confirmed an order book",
  ),
  false_alarms: count.counter(
    "orderbooks_hash_false_positives_total",
    "Hashes that differed for an order book that was correct",
  ),
  requests: count.counter("venue_requests_total", "Requests to the venue for order books"),
  errors: countsBy("kind").counter(
    "venue_errors_total",
    "Requests to the venue that failed, by kind",
  ),
  connections_open: count.gauge(
    "venue_connections",
    "Connections to the venue's stream that are open",
  ),
  connections: count.counter("venue_connections_total", "Connections to the venue's stream made"),
});

const metadataSchema = Type.Object({
  markets: count.gauge("metadata_markets", "Markets with metadata from the venue"),
  markets_missing: count.gauge(
    "metadata_markets_missing",
    "Markets whose metadata was not requested yet",
  ),
  age_seconds: block.gauge(
    "metadata_age_seconds",
    "Time since all open markets were last read; absent until then",
  ),
  up: flag.gauge("metadata_up", "1 while the venue's metadata API responds, else 0"),
  contradictions: countsBy("kind").gauge(
    "metadata_contradictions",
    "Markets whose metadata contradicts the chain, by kind; the chain is served",
  ),
  requests: count.counter("metadata_requests_total", "Requests for market metadata"),
  pages: count.counter(
    "metadata_pages_total",
    "Pages of market metadata that were read, without requests by id",
  ),
  unreadable: count.counter("metadata_unreadable_total", "Entries without the id of a market"),
  errors: countsBy("kind").counter("metadata_errors_total", "Requests that failed, by kind"),
});

const cpu = (mode: string) =>
  amount.counter("process_cpu_seconds_total", "Processor time of all threads", {
    labels: { mode },
  });
const lag = (quantile: string) =>
  amount.gauge("process_event_loop_lag_seconds", "How late timers were in the last 10 seconds", {
    labels: { quantile },
  });

const processSchema = Type.Object({
  memory: Type.Object({
    resident_bytes: count.gauge(
      "process_resident_memory_bytes",
      "Resident memory, with the embedded engine",
    ),
    heap_used_bytes: count.gauge("process_heap_used_bytes", "Heap of the main thread in use"),
    heap_total_bytes: count.gauge("process_heap_total_bytes", "Heap of the main thread reserved"),
    external_bytes: count.gauge("process_external_memory_bytes", "Buffers outside the heap"),
  }),
  cpu_user_seconds: cpu("user"),
  cpu_system_seconds: cpu("system"),
  event_loop_lag: Type.Object({
    p50_ms: lag("0.5"),
    p99_ms: lag("0.99"),
    max_ms: lag("1"),
  }),
  garbage_collections: count.counter(
    "process_garbage_collections_total",
    "Runs of the garbage collector in the main thread",
  ),
  garbage_collection_seconds: amount.counter(
    "process_garbage_collection_seconds_total",
    "Time spent in garbage collection",
  ),
});

/** Everything that is measured. Counts are since the start of the process. */
export const metricsSchema = Type.Object({
  uptime_seconds: amount.gauge("process_uptime_seconds", "Since the start of the process"),
  version: Type.String(gauge("build_info", "Always 1; the label reports the version", "version")),
  role: Type.Enum(
    [...roles],
    gauge("process_role", "1 for the role of this process, 0 for the others", "role"),
  ),
  indexer: indexerSchema,
  api: apiSchema,
  stream: streamSchema,
  store: storeSchema,
  cluster: Type.Union([clusterSchema, Type.Null()], { description: "null outside a cluster" }),
  access: Type.Union([accessSchema, Type.Null()], { description: "null outside a cluster" }),
  books: Type.Union([booksSchema, Type.Null()], { description: "null without a source of books" }),
  market_metadata: Type.Union([metadataSchema, Type.Null()], {
    description: "null on a process that does not ask a venue",
  }),
  process: processSchema,
});

/** One reading of everything that is measured. */
export type Metrics = Static<typeof metricsSchema>;
