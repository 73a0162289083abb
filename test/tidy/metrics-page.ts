/** Prints `docs/metrics.md`, generated from the metrics. `npm run docs` writes the file. */

import { metricTable } from "../../src/api/metrics/metric-table.ts";
import { RequestMeter } from "../../src/api/metrics/request-meter.ts";
import { EngineMeter } from "../../src/storage/engine/engine-meter.ts";

type Described = {
  readonly name: string;
  readonly type: string;
  readonly labelNames: readonly string[];
  readonly help: string;
};

const introduction = `# Metrics

\`GET /v1/metrics\` returns JSON, \`GET /v1/metrics/prometheus\` the text format 0.0.4. Both accept any key and report the same
values. JSON names have no prefix, and latencies are in milliseconds (\`p99_ms\`).

- Counters start with the process; those of the audit start with the data directory.
- An unknown value is \`null\` in JSON and absent from the text, never 0.
- Latencies are histograms. The quantiles in JSON are estimated from the buckets, as Prometheus does.
- Labels are bounded: routes are patterns, never paths; unusual methods are \`other\`; endpoints are named by host and port.

Recent versions of Prometheus can send the key:

\`\`\`yaml
scrape_configs:
  - job_name: oddwire
    metrics_path: /v1/metrics/prometheus
    http_headers: { X-API-Key: { files: [/run/secrets/oddwire-key] } }
    static_configs: [{ targets: ["127.0.0.1:8080"] }]
\`\`\`

Or set \`ODDWIRE_METRICS_PORT\`. This second port on \`ODDWIRE_HOST\` serves only \`/metrics\`, without a key. It accepts 100
requests a minute from one IP address.

## What to watch

| sign | meaning |
|---|---|
| \`oddwire_indexer_lag_seconds\` rises | nodes or the store are too slow, or indexing has stopped; \`/v1/ready\` says which |
| \`oddwire_indexer_gaps\` above 0 | the store is damaged |
| \`oddwire_indexer_quarantined_logs_total\` rises | a contract emits logs that this version cannot decode; they are kept, see the log |
| \`oddwire_indexer_match_anomalies_total\` rises | matches break a rule of [counting](counting.md); they are served as they are |
| \`oddwire_indexer_warning\` is present | a [warning](glossary.md#the-chain) |
| \`oddwire_rpc_invalid_responses_total\` rises | an endpoint contradicts itself or the chain; use another |
| \`oddwire_http_errors_total\` rises | server errors, or Polymarket or the store is unavailable; the log has each with its request id |
| \`nodejs_eventloop_lag_p99_seconds\` above 0.1 | every response waits that long |

## Every metric

\`npm run docs\` generates this list from [src/api/metrics/metrics-schema.ts](../src/api/metrics/metrics-schema.ts); a test
compares the two.

| metric | type | unit | labels | meaning |
|---|---|---|---|---|
`;

const { latencies } = new EngineMeter();

const described: readonly Described[] = [
  ...metricTable,
  ...[new RequestMeter().latency, latencies.query, latencies.insert].map(
    ({ name, help, labelNames }) => ({ name, help, labelNames, type: "histogram" }),
  ),
];

/** Returns the whole page. */
export function formatMetricsPage(): string {
  return `${introduction}${described.map((metric) => `${formatRow(metric)}\n`).join("")}`;
}

function formatRow({ name, type, labelNames, help }: Described): string {
  const labels = labelNames.map((label) => `\`${label}\``).join(", ");
  return `| \`${name}\` | ${type} | ${getUnit(name)} | ${labels} | ${help} |`;
}

/** The unit of a metric. Its name ends in the unit, except for plain counts and states. */
function getUnit(name: string): string {
  const units: readonly [RegExp, string][] = [
    [/_seconds(_total)?$/, "seconds"],
    [/_bytes$/, "bytes"],
    [/_per_second(_max)?$/, "per second"],
    [/_ratio$/, "0 to 1"],
    [/_block$/, "block number"],
    [/_(blocks(_max)?|gaps)$/, "blocks"],
    [/_(warning|up|enabled|state|info|role|active)$/, "0 or 1"],
    [/_id$/, "id"],
  ];
  return units.find(([pattern]) => pattern.test(name))?.[1] ?? "count";
}

if (import.meta.main) process.stdout.write(formatMetricsPage());
