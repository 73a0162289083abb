/**
 * What of the metrics Prometheus is sent, and under which names: prefix `oddwire_`, base units,
 * counters ending in `_total`. `docs/metrics.md` is made from this table.
 */
import type { Family } from "../../base/metrics/prometheus-text.ts";
import { bookMetrics } from "./book-metrics.ts";
import { metadataMetrics } from "./metadata-metrics.ts";
import {
  byHost,
  byKind,
  byTable,
  counter,
  counterOf,
  gauge,
  gaugeOf,
  labelled,
  type Metric,
} from "./metric.ts";
import type { Metrics } from "./metrics-schema.ts";
import { processMetrics } from "./process-metrics.ts";

const indexerMetrics: readonly Metric[] = [
  gauge(
    "oddwire_indexer_chain_id",
    "The chain that is followed",
    ({ indexer }) => indexer.chain_id,
  ),
  gauge(
    "oddwire_indexer_head_block",
    "The newest block any endpoint describes",
    ({ indexer }) => indexer.head_block,
  ),
  gauge(
    "oddwire_indexer_indexed_block",
    "The newest block indexed",
    ({ indexer }) => indexer.indexed_block,
  ),
  gauge(
    "oddwire_indexer_finalized_block",
    "The newest block stored for good",
    ({ indexer }) => indexer.finalized_block,
  ),
  gauge(
    "oddwire_indexer_lag_blocks",
    "Head less indexed block",
    ({ indexer }) => indexer.lag_blocks,
  ),
  gauge(
    "oddwire_indexer_lag_seconds",
    "Chain time between the indexed block and the head",
    ({ indexer }) => indexer.lag_seconds,
  ),
  gauge(
    "oddwire_indexer_coverage_from_block",
    "The first block stored",
    ({ indexer }) => indexer.coverage?.from_block ?? null,
  ),
  gauge(
    "oddwire_indexer_coverage_to_block",
    "The last block stored",
    ({ indexer }) => indexer.coverage?.to_block ?? null,
  ),
  gauge(
    "oddwire_indexer_gaps",
    "Blocks within the coverage that are not stored; anything but 0 is damage",
    ({ indexer }) => indexer.gaps,
  ),
  gauge(
    "oddwire_indexer_unfinalized_blocks",
    "Blocks above finality, held in memory",
    ({ indexer }) => indexer.unfinalized_blocks,
  ),
  labelled(
    gaugeOf("oddwire_indexer_warning", "1 for each warning that is raised"),
    ["warning"],
    ({ indexer }) => indexer.warnings.map((warning) => ({ labels: { warning }, value: 1 })),
  ),
  byKind(
    counterOf("oddwire_indexer_events_total", "Events by kind; a fill is an order_filled"),
    "kind",
    ({ indexer }) => indexer.events,
  ),
  counter("oddwire_indexer_trades_total", "Fills that are trades", ({ indexer }) => indexer.trades),
  gauge(
    "oddwire_indexer_events_per_second",
    "Events per second over the last 5 seconds",
    ({ indexer }) => indexer.events_per_second,
  ),
  byKind(
    counterOf("oddwire_indexer_match_anomalies_total", "Matches that break a rule, by rule"),
    "kind",
    ({ indexer }) => indexer.match_anomalies,
  ),
  byKind(
    counterOf("oddwire_indexer_quarantined_logs_total", "Logs that could not be read, by reason"),
    "reason",
    ({ indexer }) => indexer.quarantined_logs,
  ),
  counter(
    "oddwire_indexer_reorgs_total",
    "Reorganizations that reverted blocks",
    ({ indexer }) => indexer.reorgs,
  ),
  gauge(
    "oddwire_indexer_deepest_reorg_blocks",
    "The most blocks one reorganization reverted",
    ({ indexer }) => indexer.deepest_reorg_blocks,
  ),
  counter(
    "oddwire_indexer_bloom_false_positives_total",
    "Blooms that described more logs than there were, as was then proven",
    ({ indexer }) => indexer.bloom_false_positives,
  ),
];

const auditMetrics: readonly Metric[] = [
  counter(
    "oddwire_audit_ranges_total",
    "Stored ranges that were read again, since the data folder was made, as all of the audit",
    ({ indexer }) => indexer.audit.ranges,
  ),
  counter(
    "oddwire_audit_blocks_total",
    "Stored blocks that were read again",
    ({ indexer }) => indexer.audit.blocks,
  ),
  counter(
    "oddwire_audit_rounds_total",
    "How often everything stored was read again",
    ({ indexer }) => indexer.audit.rounds,
  ),
  gauge(
    "oddwire_audit_round_progress_ratio",
    "The share of the blocks that was read again in this round",
    ({ indexer }) => indexer.audit.round_progress,
  ),
  gauge(
    "oddwire_audit_from_block",
    "How far back everything was audited in this round",
    ({ indexer }) => indexer.audit.audited_from_block,
  ),
  gauge(
    "oddwire_audit_to_block",
    "Up to where everything was audited in this round",
    ({ indexer }) => indexer.audit.audited_to_block,
  ),
  counter(
    "oddwire_audit_mismatches_total",
    "Ranges of which a node and the store said different things, proven or not",
    ({ indexer }) => indexer.audit.mismatches,
  ),
  counter(
    "oddwire_audit_false_alarms_total",
    "Ranges of which an endpoint contradicted the store and receipts disproved it",
    ({ indexer }) => indexer.audit.false_alarms,
  ),
  counter(
    "oddwire_audit_repairs_total",
    "Ranges that were proven to be wrong and repaired",
    ({ indexer }) => indexer.audit.repairs,
  ),
  gauge(
    "oddwire_audit_unverified_ranges",
    "Ranges that a node contradicts without a proof",
    ({ indexer }) => indexer.audit.unverified_ranges,
  ),
  gauge(
    "oddwire_audit_corrupt_ranges",
    "Ranges that are proven to be wrong and not repaired; the service is not ready",
    ({ indexer }) => indexer.audit.corrupt_ranges,
  ),
];

const backfillMetrics: readonly Metric[] = [
  gauge(
    "oddwire_backfill_from_block",
    "Where the range to catch up with begins; absent while the head is followed",
    ({ indexer }) => indexer.backfill?.from_block ?? null,
  ),
  gauge(
    "oddwire_backfill_to_block",
    "Where the range ends: the head",
    ({ indexer }) => indexer.backfill?.to_block ?? null,
  ),
  gauge(
    "oddwire_backfill_progress_ratio",
    "The share of the range that is indexed",
    ({ indexer }) => indexer.backfill?.progress ?? null,
  ),
  gauge(
    "oddwire_backfill_blocks_per_second",
    "Blocks per second over the last 5 seconds",
    ({ indexer }) => indexer.backfill?.blocks_per_second ?? null,
  ),
  gauge(
    "oddwire_backfill_remaining_seconds",
    "How long the rest will take at this rate",
    ({ indexer }) => indexer.backfill?.seconds_left ?? null,
  ),
];

const endpointMetrics: readonly Metric[] = [
  byHost(
    counterOf("oddwire_rpc_requests_total", "Requests sent, of one call or several"),
    ({ requests }) => requests,
  ),
  byHost(counterOf("oddwire_rpc_calls_total", "JSON-RPC calls sent"), ({ calls }) => calls),
  byHost(
    counterOf("oddwire_rpc_errors_total", "Requests that failed: no answer, a broken one, a 5xx"),
    ({ errors }) => errors,
  ),
  byHost(
    counterOf("oddwire_rpc_rate_limited_total", "Requests refused because of the rate"),
    ({ rate_limited }) => rate_limited,
  ),
  byHost(
    counterOf(
      "oddwire_rpc_invalid_responses_total",
      "Answers that contradicted themselves or the chain",
    ),
    ({ bad_answers }) => bad_answers,
  ),
  byHost(
    gaugeOf("oddwire_rpc_latency_seconds", "Sliding average of small requests"),
    ({ latency_ms }) => latency_ms && latency_ms / 1000,
  ),
  labelled(
    gaugeOf(
      "oddwire_rpc_breaker_state",
      "1 for the state that the breaker is in, 0 for the others",
    ),
    ["host", "state"],
    ({ indexer }) =>
      indexer.endpoints.flatMap(({ host, breaker }) =>
        ["closed", "open", "half_open"].map((state) => ({
          labels: { host, state },
          value: state === breaker ? 1 : 0,
        })),
      ),
  ),
  byHost(
    gaugeOf(
      "oddwire_rpc_calls_per_second_max",
      "The learnt or configured rate; absent without one",
    ),
    ({ calls_per_second }) => calls_per_second,
  ),
  byHost(
    gaugeOf("oddwire_rpc_range_blocks", "Blocks per request"),
    ({ range_blocks }) => range_blocks,
  ),
  byHost(
    gaugeOf(
      "oddwire_rpc_range_blocks_max",
      "The provider's cap on them; absent while none is known",
    ),
    ({ range_blocks_cap }) => range_blocks_cap,
  ),
  byHost(
    gaugeOf("oddwire_rpc_head_block", "The newest block it described"),
    ({ head_block }) => head_block,
  ),
];

const httpMetrics: readonly Metric[] = [
  labelled(
    counterOf("oddwire_http_requests_total", "Requests answered"),
    ["method", "route", "status"],
    ({ api }) =>
      api.routes.flatMap(({ method, route, statuses }) =>
        Object.entries(statuses).map(([status, value]) => ({
          labels: { method, route, status },
          value,
        })),
      ),
  ),
  counter(
    "oddwire_http_errors_total",
    "Answers with an error of our own, 5xx",
    ({ api }) => api.errors,
  ),
  byKind(
    counterOf("oddwire_http_refusals_total", "Requests refused, by code of the error"),
    "code",
    ({ api }) => api.refusals,
  ),
  byKind(
    counterOf("oddwire_access_changes_total", "Changes of keys and IP blocks, by action"),
    "action",
    ({ api }) => api.access_changes,
  ),
];

const streamMetrics: readonly Metric[] = [
  gauge(
    "oddwire_stream_connections",
    "Clients connected to the stream",
    ({ stream }) => stream.connections,
  ),
  gauge(
    "oddwire_stream_subscriptions",
    "Subscriptions of all of them",
    ({ stream }) => stream.subscriptions,
  ),
  counter(
    "oddwire_stream_messages_total",
    "Events sent, to all clients together",
    ({ stream }) => stream.messages,
  ),
  counter(
    "oddwire_stream_sent_bytes_total",
    "Bytes of those events on the wire",
    ({ stream }) => stream.bytes,
  ),
  counter(
    "oddwire_stream_replayed_messages_total",
    "Events among them that were read back from the store",
    ({ stream }) => stream.replayed_messages,
  ),
  counter(
    "oddwire_stream_slow_closes_total",
    "Clients closed for being slow or silent",
    ({ stream }) => stream.slow_closes,
  ),
];

const storeMetrics: readonly Metric[] = [
  byTable(gaugeOf("oddwire_store_rows", "Rows of a table"), ({ rows }) => rows),
  byTable(gaugeOf("oddwire_store_bytes", "Bytes of a table on the disk"), ({ bytes }) => bytes),
  byTable(
    gaugeOf("oddwire_store_parts", "Parts a table is in, before merging"),
    ({ parts }) => parts,
  ),
  labelled(
    counterOf("oddwire_store_failures_total", "Queries and inserts that failed or were refused"),
    ["operation"],
    ({ store }) => [
      { labels: { operation: "query" }, value: store.queries.failures },
      { labels: { operation: "insert" }, value: store.inserts.failures },
    ],
  ),
  byKind(
    counterOf(
      "oddwire_query_reads_total",
      "Pages and charts that were read, by the last source that was needed: head, recent or engine",
    ),
    "source",
    ({ store }) => store.answered_by,
  ),
];

/** Every metric but the histograms. */
export const metricTable: readonly Metric[] = [
  ...indexerMetrics,
  ...auditMetrics,
  ...backfillMetrics,
  ...endpointMetrics,
  ...httpMetrics,
  ...streamMetrics,
  ...storeMetrics,
  ...bookMetrics,
  ...metadataMetrics,
  ...processMetrics,
];

/** The numbers as Prometheus has them. What is not known has no sample. */
export function familiesOf(metrics: Metrics): readonly Family[] {
  return metricTable.map(({ read, ...metric }) => ({ ...metric, samples: read(metrics) }));
}
