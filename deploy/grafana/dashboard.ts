/**
 * Prints the Grafana dashboard `oddwire.json`, which `npm run docs` writes next to this file. It can be imported into
 * any Grafana: the data source and the instance are variables. Panels are described by the help texts of their metrics.
 */
import { metricTable } from "../../src/api/metrics/metric-table.ts";

type Query = readonly [expression: string, legend: string];
type Panel = {
  readonly title: string;
  /** A unit as Grafana names it; `none` for plain numbers. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** The panel shows one number instead of a graph, colored from this value on. */
  readonly warningAt?: number;
};

const rows: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    "Right now",
    [
      { ...graph("Lag", "s", [["oddwire_indexer_lag_seconds", ""]]), warningAt: 60 },
      { ...graph("Gaps", "none", [["oddwire_indexer_gaps", ""]]), warningAt: 1 },
      {
        ...graph("Warnings", "none", [["sum(oddwire_indexer_warning) or vector(0)", ""]]),
        warningAt: 1,
      },
      {
        ...graph("Server errors, last hour", "none", [
          ["increase(oddwire_http_errors_total[1h])", ""],
        ]),
        warningAt: 1,
      },
    ],
  ],
  [
    "Chain",
    [
      graph("Lag behind the head", "s", [["oddwire_indexer_lag_seconds", "lag"]]),
      graph("Unfinalized blocks", "none", [["oddwire_indexer_unfinalized_blocks", "blocks"]]),
      graph("Events a second", "ops", [
        ["sum by (kind) (rate(oddwire_indexer_events_total[1m]))", "{{kind}}"],
      ]),
      graph("Reorgs", "none", [
        ["increase(oddwire_indexer_reorgs_total[5m])", "in 5 minutes"],
        ["oddwire_indexer_deepest_reorg_blocks", "deepest, blocks"],
      ]),
      graph("Backfill", "percentunit", [["oddwire_backfill_progress_ratio", "done"]]),
      graph("Quarantined logs and anomalies", "none", [
        ["sum by (reason) (oddwire_indexer_quarantined_logs_total)", "{{reason}}"],
        ["sum by (kind) (oddwire_indexer_match_anomalies_total)", "{{kind}}"],
      ]),
    ],
  ],
  [
    "Nodes",
    [
      graph("Calls a second", "ops", [["rate(oddwire_rpc_calls_total[1m])", "{{host}}"]]),
      graph("Failures a second", "ops", [
        ["rate(oddwire_rpc_errors_total[1m])", "{{host}} failed"],
        ["rate(oddwire_rpc_rate_limited_total[1m])", "{{host}} rate limited"],
        ["rate(oddwire_rpc_invalid_responses_total[1m])", "{{host}} invalid"],
      ]),
      graph("Latency", "s", [["oddwire_rpc_latency_seconds", "{{host}}"]]),
      graph("Blocks per request", "none", [["oddwire_rpc_range_blocks", "{{host}}"]]),
    ],
  ],
  [
    "HTTP",
    [
      graph("Requests a second", "reqps", [
        ["sum by (route) (rate(oddwire_http_requests_total[1m]))", "{{route}}"],
      ]),
      graph("Response time, p99", "s", [
        [
          "histogram_quantile(0.99, sum by (le, route) (rate(oddwire_http_request_duration_seconds_bucket[5m])))",
          "{{route}}",
        ],
      ]),
      graph("Rejected requests a second", "reqps", [
        ["rate(oddwire_http_refusals_total[1m])", "{{code}}"],
      ]),
      graph("5xx responses a second", "reqps", [["rate(oddwire_http_errors_total[1m])", "5xx"]]),
    ],
  ],
  [
    "Stream",
    [
      graph("Connections", "none", [["oddwire_stream_connections", "open"]]),
      graph("Messages a second", "ops", [["rate(oddwire_stream_messages_total[1m])", "sent"]]),
      graph("Bytes a second", "Bps", [["rate(oddwire_stream_sent_bytes_total[1m])", "sent"]]),
      graph("Slow clients closed", "none", [
        ["increase(oddwire_stream_slow_closes_total[5m])", "in 5 minutes"],
      ]),
    ],
  ],
  [
    "Venue and audit",
    [
      graph("Order books", "none", [
        ["oddwire_orderbooks_in_memory", "in memory"],
        ["oddwire_orderbooks_stale", "stale"],
        ["oddwire_orderbooks_followed", "followed"],
      ]),
      graph("Order book resyncs", "ops", [
        ["rate(oddwire_orderbooks_resyncs_total[5m])", "{{reason}}"],
      ]),
      graph("Requests to Polymarket", "reqps", [
        ["rate(oddwire_venue_requests_total[1m])", "sent"],
        ["rate(oddwire_venue_errors_total[1m])", "{{kind}}"],
      ]),
      graph("Market metadata", "none", [
        ["oddwire_metadata_markets", "markets described"],
        ["oddwire_metadata_markets_missing", "not requested yet"],
        ["sum by (kind) (oddwire_metadata_contradictions)", "conflicts with the chain: {{kind}}"],
      ]),
      graph("Audit", "none", [
        ["oddwire_audit_round_progress_ratio", "share of this round"],
        ["oddwire_audit_unverified_ranges", "unverified"],
        ["oddwire_audit_corrupt_ranges", "corrupt"],
      ]),
    ],
  ],
  [
    "Cluster",
    [
      graph("Processes by role", "none", [["sum by (role) (oddwire_role)", "{{role}}"]]),
      graph("Active indexer", "none", [
        ["oddwire_indexer_active == 1", "{{instance}}"],
        ["max(oddwire_feed_term)", "term"],
      ]),
      graph("Age of the feed", "s", [["oddwire_feed_age_seconds", "{{instance}}"]]),
      graph("Stored blocks", "none", [["oddwire_indexer_finalized_block", "{{instance}}"]]),
      graph("Open claims and missing blocks", "none", [
        ["oddwire_indexer_open_claims", "{{instance}} open claims"],
        ["oddwire_feed_gap_state", "{{instance}} misses blocks of the feed"],
      ]),
      graph("Without Redis, share of time", "percentunit", [
        ["rate(oddwire_redis_down_seconds_total[1m])", "{{instance}} no connection"],
        ["rate(oddwire_limits_inexact_seconds_total[1m])", "{{instance}} limits by node"],
      ]),
      graph("Keys", "none", [
        ["oddwire_access_key_version", "{{instance}} version"],
        ["oddwire_access_keys_verified", "{{instance}} verified"],
        ["oddwire_access_live_nodes", "{{instance}} live nodes"],
      ]),
    ],
  ],
  [
    "Store and process",
    [
      graph("Queries, p99", "s", [
        [
          "histogram_quantile(0.99, sum by (le) (rate(oddwire_store_query_duration_seconds_bucket[5m])))",
          "query",
        ],
        [
          "histogram_quantile(0.99, sum by (le) (rate(oddwire_store_insert_duration_seconds_bucket[5m])))",
          "insert",
        ],
      ]),
      graph("On disk", "bytes", [["oddwire_store_bytes", "{{table}}"]]),
      graph("Memory", "bytes", [
        ["process_resident_memory_bytes", "resident"],
        ["nodejs_heap_size_used_bytes", "heap in use"],
      ]),
      graph("Processor", "none", [
        ["rate(process_cpu_user_seconds_total[1m])", "user, cores"],
        ["rate(process_cpu_system_seconds_total[1m])", "system, cores"],
      ]),
      graph("Event loop", "s", [
        ["nodejs_eventloop_lag_p50_seconds", "p50"],
        ["nodejs_eventloop_lag_p99_seconds", "p99"],
        ["nodejs_eventloop_lag_max_seconds", "max"],
      ]),
      graph("Parts of the tables", "none", [["oddwire_store_parts", "{{table}}"]]),
    ],
  ],
];

const histograms: Readonly<Record<string, string>> = {
  oddwire_http_request_duration_seconds_bucket: "Time from a request to its response.",
  oddwire_store_query_duration_seconds_bucket: "Time of queries in the engine.",
  oddwire_store_insert_duration_seconds_bucket: "Time of inserts into the engine.",
};

const metricName = /\b(?:oddwire|process|nodejs)_\w+/g;
const datasource = { type: "prometheus", uid: "${DS_PROMETHEUS}" };
const runbookUrl = "http://127.0.0.1:8080/guide/operations.html#runbook";
const variables = [
  { name: "DS_PROMETHEUS", label: "Data source", type: "datasource", query: "prometheus" },
  {
    name: "role",
    label: "Role",
    type: "query",
    datasource,
    query: "label_values(oddwire_role, role)",
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: ".*",
    current: { text: "All", value: "$__all" },
  },
  {
    name: "instance",
    label: "Instance",
    type: "query",
    datasource,
    // Also instances that are down now. Without an `allValue`, "All" means those of the selected role.
    query: 'query_result(last_over_time(oddwire_role{role=~"$role"}[$__range]) == 1)',
    regex: '/instance="([^"]+)"/',
    refresh: 2,
    multi: true,
    includeAll: true,
    current: { text: "All", value: "$__all" },
  },
];

const columns = 24;
const graphSize = { w: 12, h: 7 };
const oneSize = { w: 6, h: 4 };
const rowSize = { w: columns, h: 1 };

process.stdout.write(`${formatDashboard()}\n`);

function graph(title: string, unit: string, queries: readonly Query[]): Panel {
  return { title, unit, queries };
}

/** Returns the dashboard in the format that Grafana imports. */
function formatDashboard(): string {
  const dashboard = {
    uid: "oddwire",
    title: "Oddwire",
    schemaVersion: 41,
    editable: true,
    refresh: "15s",
    time: { from: "now-6h", to: "now" },
    timezone: "utc",
    templating: { list: variables },
    links: [{ title: "Runbook", type: "link", url: runbookUrl, targetBlank: true }],
    panels: placePanels(),
  };
  return JSON.stringify(dashboard, null, 2);
}

/** Places the rows below each other, and the panels of each row from left to right. */
function placePanels(): object[] {
  const placed: object[] = [];
  let y = 0;
  for (const [title, panels] of rows) {
    placed.push({ id: placed.length + 1, type: "row", title, gridPos: { x: 0, y, ...rowSize } });
    y += rowSize.h;
    let x = 0;
    let h = 0;
    for (const panel of panels) {
      const size = panel.warningAt === undefined ? graphSize : oneSize;
      if (x + size.w > columns) {
        x = 0;
        y += h;
      }
      placed.push(drawPanel(panel, { id: placed.length + 1, gridPos: { x, y, ...size } }));
      x += size.w;
      h = size.h;
    }
    y += h;
  }
  return placed;
}

function drawPanel({ title, unit, queries, warningAt }: Panel, place: object): object {
  const targets = queries.map(([expr, legendFormat], i) => ({
    refId: String.fromCodePoint("A".charCodeAt(0) + i),
    datasource,
    expr: expr.replaceAll(metricName, '$&{instance=~"$instance"}'),
    legendFormat,
  }));
  const steps = [
    { color: "green", value: null },
    ...(warningAt === undefined ? [] : [{ color: "red", value: warningAt }]),
  ];
  return {
    ...place,
    type: warningAt === undefined ? "timeseries" : "stat",
    title,
    description: describe(queries),
    datasource,
    targets,
    fieldConfig: { defaults: { unit, thresholds: { mode: "absolute", steps } }, overrides: [] },
  };
}

/** Returns the help texts of the metrics that a panel shows. */
function describe(queries: readonly Query[]): string {
  const names = new Set(queries.flatMap(([expr]) => expr.match(metricName) ?? []));
  const helps = [...names].map((name) => {
    const text = histograms[name] ?? metricTable.find((metric) => metric.name === name)?.help;
    if (text === undefined) throw new Error(`${name} has no help`);
    return text.endsWith(".") ? text : `${text}.`;
  });
  return helps.join(" ");
}
