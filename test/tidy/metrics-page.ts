/** Prints `docs/metrics.md` from the metrics themselves; `npm run docs` writes it there. */

import { metricTable } from "../../src/api/metrics/metric-table.ts";
import { RequestMeter } from "../../src/api/metrics/request-meter.ts";
import { MeteredEngine } from "../../src/storage/engine/metered-engine.ts";

type Described = {
  readonly name: string;
  readonly type: string;
  readonly labelNames: readonly string[];
  readonly help: string;
};

const introduction = `# Metrics

\`GET /v1/metrics\` answers JSON, \`GET /v1/metrics/prometheus\` the text format 0.0.4, both for any key. They are printed from
one reading and cannot disagree: names in the JSON say the same without the prefix, with milliseconds where people read
them (\`p99_ms\`). Counters begin at the start of the process, those of the audit with the data folder. What is not known is \`null\` in the JSON and absent from the
text, never 0. Latencies are histograms; the quantiles of the JSON are read from their buckets as Prometheus does it.
Labels are bounded: routes are patterns, never paths, unusual methods are \`other\`, endpoints are named by host and port.

Recent versions of Prometheus can send the key themselves:

\`\`\`yaml
scrape_configs:
  - job_name: oddwire
    metrics_path: /v1/metrics/prometheus
    http_headers: { X-API-Key: { files: [/run/secrets/oddwire-key] } }
    static_configs: [{ targets: ["127.0.0.1:8080"] }]
\`\`\`

Or set \`ODDWIRE_METRICS_PORT\`: a second listener on \`ODDWIRE_HOST\` that serves \`/metrics\` without a key, and nothing else.
It admits 100 requests a minute from one IP.

## What to watch

| sign | meaning |
|---|---|
| \`oddwire_indexer_lag_seconds\` rises | nodes or the store are too slow, or indexing has stopped; \`/v1/ready\` says which |
| \`oddwire_indexer_gaps\` above 0 | the store is damaged |
| \`oddwire_indexer_quarantined_logs_total\` rises | a contract logs what this version cannot read; it is kept, see the log |
| \`oddwire_indexer_match_anomalies_total\` rises | matches break a rule of [counting](counting.md); they are served as they are |
| \`oddwire_indexer_warning\` is there | see the glossary: [warning](glossary.md#the-chain) |
| \`oddwire_rpc_invalid_responses_total\` rises | an endpoint contradicts itself or the chain; use another |
| \`oddwire_http_errors_total\` rises | our own fault, or a venue or the store that is away; each is in the log with its request id |
| \`oddwire_process_event_loop_lag_seconds{quantile="0.99"}\` above 0.1 | every answer waits that long |

## Every metric

This list is made from [src/api/metrics/metrics-schema.ts](../src/api/metrics/metrics-schema.ts) by \`npm run docs\`; a test compares the two.

| metric | type | unit | labels | meaning |
|---|---|---|---|---|
`;

/** Nothing is asked of it: only what would be measured is read. */
const noEngine = new MeteredEngine({
  query: refuse,
  queryNative: refuse,
  command: refuse,
  deleteRows: refuse,
  openRows: refuse,
  insert: refuse,
  close: refuse,
});

const described: readonly Described[] = [
  ...metricTable,
  ...[new RequestMeter().latency, noEngine.latencies.query, noEngine.latencies.insert].map(
    ({ name, help, labelNames }) => ({ name, help, labelNames, type: "histogram" }),
  ),
];

/** The whole page. */
export function formatMetricsPage(): string {
  return `${introduction}${described.map((metric) => `${formatRow(metric)}\n`).join("")}`;
}

function formatRow({ name, type, labelNames, help }: Described): string {
  const labels = labelNames.map((label) => `\`${label}\``).join(", ");
  return `| \`${name}\` | ${type} | ${unitOf(name)} | ${labels} | ${help} |`;
}

/** Every name ends in its unit, but for plain counts and states. */
function unitOf(name: string): string {
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

function refuse(): Promise<never> {
  return Promise.reject(new Error("there is no engine"));
}

if (import.meta.main) process.stdout.write(formatMetricsPage());
