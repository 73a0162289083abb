import type { Metrics } from "../../src/api/metrics/metrics-schema.ts";
import { RequestMeter } from "../../src/api/metrics/request-meter.ts";
import type { MetricsSource } from "../../src/api/routes/service/get-metrics.ts";
import { LatencyHistogram } from "../../src/base/metrics/latency-histogram.ts";

/** Metrics of which every number is another one, but for those of the requests, which are real. */
export function testMetrics(): MetricsSource & { readonly requests: RequestMeter } {
  const requests = new RequestMeter();
  const queryLatency = new LatencyHistogram({
    name: "oddwire_store_query_duration_seconds",
    help: "How long queries took",
    labelNames: [],
  });
  queryLatency.observe({}, 3);
  return {
    requests,
    histograms: [requests.latency, queryLatency],
    read: async () => ({
      uptime_seconds: 3601.5,
      version: "0.1.0",
      indexer: indexerMetrics,
      api: { ...(await requests.read()), access_changes: { key_created: 91 } },
      stream: {
        connections: 71,
        subscriptions: 72,
        messages: 73,
        bytes: 74,
        replayed_messages: 75,
        slow_closes: 76,
      },
      store: {
        tables: [
          { table: "events", rows: 41, bytes: 42, parts: 43 },
          { table: "fills", rows: 44, bytes: 45, parts: 46 },
        ],
        queries: { count: 1, failures: 47, p50_ms: 1.75, p95_ms: 2.425, p99_ms: 2.485 },
        inserts: { count: 0, failures: 48, p50_ms: null, p95_ms: null, p99_ms: null },
        answered_by: [{ question: "trades", source: "engine", answers: 91 }],
      },
      books: {
        source: "polymarket",
        in_memory: 61,
        stale: 62,
        followed: 63,
        resyncs: { hash_mismatch: 64 },
        changes: 65,
        snapshots: 66,
        unreadable: 67,
        hashes_proven: 68,
        false_alarms: 69,
        hashes_usable: true,
        requests: 71,
        errors: { unavailable: 72 },
        connections: 73,
        connections_open: 74,
      },
      market_metadata: {
        markets: 81,
        markets_missing: 82,
        age_seconds: 83,
        up: true,
        contradictions: { tokens: 84, resolution: 85 },
        requests: 86,
        pages: 87,
        unreadable: 88,
        errors: { rate_limited: 89 },
      },
      process: {
        memory: {
          resident_bytes: 51_000_000,
          heap_used_bytes: 52_000_000,
          heap_total_bytes: 53_000_000,
          external_bytes: 54_000_000,
        },
        cpu_user_seconds: 55.5,
        cpu_system_seconds: 56.25,
        event_loop_lag: { p50_ms: 1.5, p99_ms: 57, max_ms: 58 },
        garbage_collections: 59,
        garbage_collection_seconds: 0.6,
      },
    }),
  };
}

const indexerMetrics: Metrics["indexer"] = {
  chain_id: 137,
  head_block: 2000,
  indexed_block: 1500,
  finalized_block: 1490,
  lag_blocks: 500,
  lag_seconds: 1001,
  coverage: { from_block: 1000, to_block: 1490 },
  gaps: 0,
  audit: {
    ranges: 81,
    blocks: 82,
    rounds: 83,
    round_progress: 0.84,
    audited_from_block: 1100,
    audited_to_block: 1399,
    mismatches: 85,
    false_alarms: 86,
    repairs: 87,
    unverified_ranges: 88,
    corrupt_ranges: 89,
  },
  unfinalized_blocks: 10,
  warnings: ["finalized_missing"],
  events: { order_filled: 11, condition_resolved: 12 },
  trades: 7,
  events_per_second: 13.5,
  match_anomalies: { legs_differ_from_summary: 14 },
  quarantined_logs: { 'a "quoted" reason\\with a backslash': 15 },
  reorgs: 16,
  deepest_reorg_blocks: 17,
  bloom_false_positives: 18,
  backfill: {
    from_block: 1000,
    to_block: 2000,
    progress: 0.5,
    blocks_per_second: 19.5,
    seconds_left: 26,
  },
  endpoints: [
    {
      host: "node.example.com",
      requests: 8,
      calls: 21,
      errors: 22,
      rate_limited: 23,
      bad_answers: 24,
      latency_ms: 25.5,
      breaker: "half_open",
      calls_per_second: 27.5,
      range_blocks: 28,
      range_blocks_cap: 29,
      head_block: 1999,
    },
    {
      host: "node.example.com#2",
      requests: 0,
      calls: 31,
      errors: 32,
      rate_limited: 33,
      bad_answers: 34,
      latency_ms: null,
      breaker: "open",
      calls_per_second: null,
      range_blocks: 38,
      range_blocks_cap: null,
      head_block: null,
    },
  ],
};
