import { type Static, Type } from "typebox";
import { roles } from "../../base/config/config.ts";
import { accessSchema, clusterSchema } from "./access-schema.ts";
import {
  amount,
  block,
  count,
  counter,
  countsByKind,
  gauge,
  labeledBy,
  measured,
  share,
} from "./metric-field.ts";

/** `null` until something was measured; read from the buckets of the histogram. */
const latencyFields = { p50_ms: measured(), p95_ms: measured(), p99_ms: measured() };

const indexerSchema = Type.Object({
  chain_id: count(gauge("indexer_chain_id", "The chain that is followed")),
  head_block: block(gauge("indexer_head_block", "The newest block any endpoint describes")),
  indexed_block: block(gauge("indexer_indexed_block", "The newest block indexed")),
  finalized_block: block(gauge("indexer_finalized_block", "The newest block stored for good")),
  lag_blocks: block(gauge("indexer_lag_blocks", "Head less indexed block")),
  lag_seconds: block(
    gauge("indexer_lag_seconds", "Chain time between the indexed block and the head"),
  ),
  coverage: Type.Union([
    Type.Object({
      from_block: count(gauge("indexer_coverage_from_block", "The first block stored")),
      to_block: count(gauge("indexer_coverage_to_block", "The last block stored")),
    }),
    Type.Null(),
  ]),
  gaps: block(
    gauge(
      "indexer_gaps",
      "Blocks within the coverage that are not stored; anything but 0 is damage",
    ),
  ),
  unfinalized_blocks: count(
    gauge("indexer_unfinalized_blocks", "Blocks above finality, held in memory"),
  ),
  warnings: Type.Array(
    Type.String(),
    gauge("indexer_warning", "1 for each warning that is raised", { label: "warning" }),
  ),
  events: countsByKind(
    counter("indexer_events_total", "Events by kind; a fill is an order_filled", { label: "kind" }),
  ),
  trades: count(counter("indexer_trades_total", "Fills that are trades")),
  events_per_second: measured(
    gauge("indexer_events_per_second", "Events per second over the last 5 seconds"),
  ),
  match_anomalies: countsByKind(
    counter("indexer_match_anomalies_total", "Matches that break a rule, by rule", {
      label: "kind",
    }),
  ),
  quarantined_logs: countsByKind(
    counter("indexer_quarantined_logs_total", "Logs that could not be read, by reason", {
      label: "reason",
    }),
  ),
  reorgs: count(counter("indexer_reorgs_total", "Reorganizations that reverted blocks")),
  deepest_reorg_blocks: count(
    gauge("indexer_deepest_reorg_blocks", "The most blocks one reorganization reverted"),
  ),
  bloom_false_positives: count(
    counter(
      "indexer_bloom_false_positives_total",
      "Blooms that described more logs than there were, as was then proven",
    ),
  ),
  // Since the data folder was made, unlike the other counts.
  audit: Type.Object({
    ranges: count(
      counter(
        "audit_ranges_total",
        "Stored ranges that were read again, since the data folder was made, as all of the audit",
      ),
    ),
    blocks: count(counter("audit_blocks_total", "Stored blocks that were read again")),
    rounds: count(counter("audit_rounds_total", "How often everything stored was read again")),
    round_progress: share(
      gauge(
        "audit_round_progress_ratio",
        "The share of the blocks that was read again in this round",
      ),
    ),
    audited_from_block: block(
      gauge("audit_from_block", "How far back everything was audited in this round"),
    ),
    audited_to_block: block(
      gauge("audit_to_block", "Up to where everything was audited in this round"),
    ),
    mismatches: count(
      counter(
        "audit_mismatches_total",
        "Ranges of which a node and the store said different things, proven or not",
      ),
    ),
    false_alarms: count(
      counter(
        "audit_false_alarms_total",
        "Ranges of which an endpoint contradicted the store and receipts disproved it",
      ),
    ),
    repairs: count(
      counter("audit_repairs_total", "Ranges that were proven to be wrong and repaired"),
    ),
    unverified_ranges: count(
      gauge("audit_unverified_ranges", "Ranges that a node contradicts without a proof"),
    ),
    corrupt_ranges: count(
      gauge(
        "audit_corrupt_ranges",
        "Ranges that are proven to be wrong and not repaired; the service is not ready",
      ),
    ),
  }),
  backfill: Type.Union(
    [
      Type.Object({
        from_block: count(
          gauge(
            "backfill_from_block",
            "Where the range to catch up with begins; absent while the head is followed",
          ),
        ),
        to_block: count(gauge("backfill_to_block", "Where the range ends: the head")),
        progress: share(gauge("backfill_progress_ratio", "The share of the range that is indexed")),
        blocks_per_second: measured(
          gauge("backfill_blocks_per_second", "Blocks per second over the last 5 seconds"),
        ),
        seconds_left: measured(
          gauge("backfill_remaining_seconds", "How long the rest will take at this rate"),
        ),
      }),
      Type.Null(),
    ],
    { description: "null while the head is followed" },
  ),
  endpoints: Type.Array(
    Type.Object({
      host: Type.String({ description: "Host and port, never the URL" }),
      requests: count(counter("rpc_requests_total", "Requests sent, of one call or several")),
      calls: count(counter("rpc_calls_total", "JSON-RPC calls sent")),
      errors: count(
        counter("rpc_errors_total", "Requests that failed: no answer, a broken one, a 5xx"),
      ),
      rate_limited: count(
        counter("rpc_rate_limited_total", "Requests refused because of the rate"),
      ),
      bad_answers: count(
        counter("rpc_invalid_responses_total", "Answers that contradicted themselves or the chain"),
      ),
      latency_ms: measured(gauge("rpc_latency_seconds", "Sliding average of small requests")),
      breaker: Type.Enum(
        ["closed", "open", "half_open"],
        gauge("rpc_breaker_state", "1 for the state that the breaker is in, 0 for the others", {
          label: "state",
        }),
      ),
      calls_per_second: measured(
        gauge("rpc_calls_per_second_max", "The learnt or configured rate; absent without one"),
      ),
      range_blocks: count(gauge("rpc_range_blocks", "Blocks per request")),
      range_blocks_cap: block(
        gauge("rpc_range_blocks_max", "The provider's cap on them; absent while none is known"),
      ),
      head_block: block(gauge("rpc_head_block", "The newest block it described")),
    }),
    labeledBy("host"),
  ),
});

const apiSchema = Type.Object({
  requests: count(),
  errors: count(counter("http_errors_total", "Answers with an error of our own, 5xx")),
  refusals: countsByKind(
    counter("http_refusals_total", "Requests refused, by code of the error", { label: "code" }),
  ),
  access_changes: countsByKind(
    counter("access_changes_total", "Changes of keys and IP blocks, by action", {
      label: "action",
    }),
  ),
  routes: Type.Array(
    Type.Object({
      method: Type.String(),
      route: Type.String({ description: "The pattern, never the path" }),
      statuses: countsByKind(
        counter("http_requests_total", "Requests answered", { label: "status" }),
      ),
      ...latencyFields,
    }),
    labeledBy("method", "route"),
  ),
});

const streamSchema = Type.Object({
  connections: count(gauge("stream_connections", "Clients connected to the stream")),
  subscriptions: count(gauge("stream_subscriptions", "Subscriptions of all of them")),
  messages: count(counter("stream_messages_total", "Events sent, to all clients together")),
  bytes: count(counter("stream_sent_bytes_total", "Bytes of those events on the wire")),
  replayed_messages: count(
    counter(
      "stream_replayed_messages_total",
      "Events among them that were read back from the store",
    ),
  ),
  slow_closes: count(
    counter("stream_slow_closes_total", "Clients closed for being slow or silent"),
  ),
});

const operationSchema = (operation: string) =>
  Type.Object({
    count: count(),
    failures: count(
      counter("store_failures_total", "Queries and inserts that failed or were refused", {
        labels: { operation },
      }),
    ),
    ...latencyFields,
  });

const storeSchema = Type.Object({
  tables: Type.Union(
    [
      Type.Array(
        Type.Object({
          table: Type.String(),
          rows: count(gauge("store_rows", "Rows of a table")),
          bytes: count(gauge("store_bytes", "Bytes of a table on the disk")),
          parts: count(gauge("store_parts", "Parts a table is in, before merging")),
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
      question: Type.String({ description: "What was asked for", examples: ["trades"] }),
      source: Type.String(),
      answers: count(
        counter(
          "query_reads_total",
          "Answers to a question, by the last source that was needed: views, head, recent or engine",
        ),
      ),
    }),
    labeledBy("question", "source"),
  ),
});

const booksSchema = Type.Object({
  source: Type.String(),
  in_memory: count(gauge("orderbooks_in_memory", "Order books held")),
  stale: count(gauge("orderbooks_stale", "Of them, those that may differ from the venue's")),
  followed: count(gauge("orderbooks_followed", "Of them, those that clients of the stream follow")),
  hashes_usable: Type.Boolean(
    gauge("orderbooks_hash_check_enabled", "1 while the venue's hashes are believed, else 0"),
  ),
  resyncs: countsByKind(
    counter("orderbooks_resyncs_total", "Books that had to be asked for again, by reason", {
      label: "reason",
    }),
  ),
  changes: count(
    counter("orderbooks_changes_total", "Levels that the stream sent to have changed"),
  ),
  snapshots: count(counter("orderbooks_snapshots_total", "Whole books that the stream reported")),
  unreadable: count(
    counter("orderbooks_unreadable_total", "Messages of the stream that could not be read"),
  ),
  hashes_proven: count(
    counter("orderbooks_hashes_proven_total", "Hashes of the stream that were right"),
  ),
  false_alarms: count(
    counter(
      "orderbooks_hash_false_positives_total",
      "Hashes that were wrong of books that were right",
    ),
  ),
  requests: count(counter("venue_requests_total", "Requests to the venue for order books")),
  errors: countsByKind(
    counter("venue_errors_total", "Requests to the venue that failed, by kind", {
      label: "kind",
    }),
  ),
  connections_open: count(
    gauge("venue_connections", "Connections to the venue's stream that are open"),
  ),
  connections: count(counter("venue_connections_total", "Connections to the venue's stream made")),
});

const metadataSchema = Type.Object({
  markets: count(gauge("metadata_markets", "Markets with metadata from the venue")),
  markets_missing: count(gauge("metadata_markets_missing", "Markets it was not asked for yet")),
  age_seconds: block(
    gauge(
      "metadata_age_seconds",
      "Since its open half was last read to the end; absent until then",
    ),
  ),
  up: Type.Boolean(gauge("metadata_up", "1 while the venue's metadata API answers")),
  contradictions: countsByKind(
    gauge(
      "metadata_contradictions",
      "Markets of which it says something else than the chain, by what; the chain is served",
      { label: "kind" },
    ),
  ),
  requests: count(counter("metadata_requests_total", "Requests to it")),
  pages: count(
    counter("metadata_pages_total", "Pages of it that were read, answers about ids aside"),
  ),
  unreadable: count(
    counter(
      "metadata_unreadable_total",
      "Entries in answers that do not say which market they are about",
    ),
  ),
  errors: countsByKind(
    counter("metadata_errors_total", "Requests that failed, by kind", { label: "kind" }),
  ),
});

const cpu = (mode: string) =>
  counter("process_cpu_seconds_total", "Processor time of all threads", { labels: { mode } });
const lag = (quantile: string) =>
  gauge("process_event_loop_lag_seconds", "How late timers were in the last 10 seconds", {
    labels: { quantile },
  });

const processSchema = Type.Object({
  memory: Type.Object({
    resident_bytes: count(
      gauge("process_resident_memory_bytes", "Memory in all, the embedded engine included"),
    ),
    heap_used_bytes: count(
      gauge("process_heap_used_bytes", "Of the main thread's heap, what is in use"),
    ),
    heap_total_bytes: count(
      gauge("process_heap_total_bytes", "Of the main thread's heap, what is reserved"),
    ),
    external_bytes: count(gauge("process_external_memory_bytes", "Buffers outside the heap")),
  }),
  cpu_user_seconds: amount(cpu("user")),
  cpu_system_seconds: amount(cpu("system")),
  event_loop_lag: Type.Object({
    p50_ms: amount(lag("0.5")),
    p99_ms: amount(lag("0.99")),
    max_ms: amount(lag("1")),
  }),
  garbage_collections: count(
    counter(
      "process_garbage_collections_total",
      "Runs of the garbage collector in the main thread",
    ),
  ),
  garbage_collection_seconds: amount(
    counter("process_garbage_collection_seconds_total", "Time these runs took"),
  ),
});

/** Everything that is measured. Counts are since the start of the process. */
export const metricsSchema = Type.Object({
  uptime_seconds: amount(gauge("process_uptime_seconds", "Since the start of the process")),
  version: Type.String(
    gauge("build_info", "Always 1; the label reports the version", { label: "version" }),
  ),
  role: Type.Enum(
    [...roles],
    gauge("process_role", "1 for the role of this process, 0 for the others", { label: "role" }),
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
