import { type Static, Type } from "typebox";

const count = Type.Integer({ minimum: 0 });
const amount = Type.Number({ minimum: 0 });
const block = Type.Union([count, Type.Null()]);
const measured = Type.Union([amount, Type.Null()]);

/** `null` until something was measured; read from the buckets of the histogram. */
const latencyFields = { p50_ms: measured, p95_ms: measured, p99_ms: measured };

/** Names of ours, such as kinds of events, and how many of each were counted. */
const countsByKind = Type.Record(Type.String(), count);

const endpointSchema = Type.Object({
  host: Type.String({ description: "Host and port, never the URL" }),
  requests: count,
  calls: count,
  errors: count,
  rate_limited: count,
  bad_answers: count,
  latency_ms: measured,
  breaker: Type.Enum(["closed", "open", "half_open"]),
  calls_per_second: measured,
  range_blocks: count,
  range_blocks_cap: block,
  head_block: block,
});

const backfillSchema = Type.Object({
  from_block: count,
  to_block: count,
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  blocks_per_second: measured,
  seconds_left: measured,
});

/** Since the data folder was made, unlike the other counts. */
const auditSchema = Type.Object({
  ranges: count,
  blocks: count,
  rounds: Type.Integer({ minimum: 0, description: "How often everything was read again" }),
  round_progress: Type.Number({ minimum: 0, maximum: 1 }),
  audited_from_block: block,
  audited_to_block: block,
  mismatches: count,
  false_alarms: Type.Integer({
    minimum: 0,
    description: "Mismatches that were an endpoint's fault",
  }),
  repairs: count,
  unverified_ranges: count,
  corrupt_ranges: count,
});

const indexerSchema = Type.Object({
  chain_id: count,
  head_block: block,
  indexed_block: block,
  finalized_block: block,
  lag_blocks: block,
  lag_seconds: block,
  coverage: Type.Union([Type.Object({ from_block: count, to_block: count }), Type.Null()]),
  gaps: Type.Union([count, Type.Null()], {
    description: "Blocks within the coverage that are not stored; null when not known",
  }),
  audit: auditSchema,
  unfinalized_blocks: count,
  warnings: Type.Array(Type.String()),
  events: countsByKind,
  trades: count,
  events_per_second: measured,
  match_anomalies: countsByKind,
  quarantined_logs: countsByKind,
  reorgs: count,
  deepest_reorg_blocks: count,
  bloom_false_positives: count,
  backfill: Type.Union([backfillSchema, Type.Null()], {
    description: "null while the head is followed",
  }),
  endpoints: Type.Array(endpointSchema),
});

const routeSchema = Type.Object({
  method: Type.String(),
  route: Type.String({ description: "The pattern, never the path" }),
  statuses: Type.Record(Type.String(), count),
  ...latencyFields,
});

const apiSchema = Type.Object({
  requests: count,
  errors: Type.Integer({ minimum: 0, description: "Answers with an error of our own, 5xx" }),
  refusals: countsByKind,
  access_changes: Type.Record(Type.String(), count, {
    description:
      "Keys created, imported, rotated and revoked, IPs blocked and unblocked, by action",
  }),
  routes: Type.Array(routeSchema),
});

const streamSchema = Type.Object({
  connections: count,
  subscriptions: count,
  messages: Type.Integer({ minimum: 0, description: "Events sent, to all clients together" }),
  bytes: Type.Integer({ minimum: 0, description: "Of those events, on the wire" }),
  replayed_messages: count,
  slow_closes: count,
});

const operationSchema = Type.Object({ count, failures: count, ...latencyFields });

const storeSchema = Type.Object({
  tables: Type.Union(
    [
      Type.Array(Type.Object({ table: Type.String(), rows: count, bytes: count, parts: count })),
      Type.Null(),
    ],
    { description: "null when the store cannot know" },
  ),
  queries: operationSchema,
  inserts: operationSchema,
  answered_by: Type.Record(Type.String(), count, {
    description: "Pages and charts that were read, by the last source that was needed",
  }),
});

const booksSchema = Type.Object({
  source: Type.String(),
  in_memory: count,
  stale: count,
  followed: count,
  resyncs: countsByKind,
  changes: count,
  snapshots: count,
  unreadable: count,
  hashes_proven: count,
  false_alarms: count,
  hashes_usable: Type.Boolean(),
  requests: count,
  errors: countsByKind,
  connections: count,
  connections_open: count,
});

const processSchema = Type.Object({
  memory: Type.Object({
    resident_bytes: count,
    heap_used_bytes: count,
    heap_total_bytes: count,
    external_bytes: count,
  }),
  cpu_user_seconds: amount,
  cpu_system_seconds: amount,
  event_loop_lag: Type.Object({ p50_ms: amount, p99_ms: amount, max_ms: amount }),
  garbage_collections: count,
  garbage_collection_seconds: amount,
});

const metadataSchema = Type.Object({
  markets: count,
  markets_missing: count,
  age_seconds: block,
  up: Type.Boolean(),
  contradictions: countsByKind,
  requests: count,
  pages: count,
  unreadable: count,
  errors: countsByKind,
});

/** Everything that is measured. Counts are since the start of the process. */
export const metricsSchema = Type.Object({
  uptime_seconds: amount,
  version: Type.String(),
  indexer: indexerSchema,
  api: apiSchema,
  stream: streamSchema,
  store: storeSchema,
  books: Type.Union([booksSchema, Type.Null()], { description: "null without a source of books" }),
  market_metadata: Type.Union([metadataSchema, Type.Null()], {
    description: "null without a venue",
  }),
  process: processSchema,
});

/** One reading of everything that is measured. */
export type Metrics = Static<typeof metricsSchema>;
