import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { metricTable } from "../../src/api/metrics/metric-table.ts";
import {
  getMetrics,
  getPrometheus,
  scrapeMetrics,
} from "../../src/api/routes/service/get-metrics.ts";
import { assertError, assertEveryHeader, openTestServer } from "../support/open-test-server.ts";
import { parsePrometheus, type Scrape } from "../support/parse-prometheus.ts";
import { testMetrics } from "../support/test-metrics.ts";

const path = "/v1/metrics/prometheus";
const metrics = testMetrics();
/** Of the package `prometheus`. */
const checker = "promtool";
const server = await openTestServer({
  routes: [getMetrics(metrics), getPrometheus(metrics), scrapeMetrics(metrics)],
  observe: (observation) => metrics.requests.observe(observation),
});
const { read } = server.keys;
after(() => server.close());

async function scrape(): Promise<Scrape> {
  return parsePrometheus((await server.request("GET", path, { key: read })).text);
}

test("200: text of the format 0.0.4, with the headers of every response", async () => {
  const answer = await server.request("GET", path, { key: read });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(assertEveryHeader(answer.headers).limit, 1000);
  assert.ok(parsePrometheus(answer.text).samples.length > 60);
});

test("200: the numbers of the JSON metrics, in base units", async () => {
  await server.request("GET", "/v1/health");
  await server.request("GET", "/v1/nothing");
  const reported = await scrape();
  const host = "node.example.com";
  const expected: readonly [string, Record<string, string>, number][] = [
    ["build_info", { version: "0.1.0" }, 1],
    ["indexer_head_block", {}, 2000],
    ["indexer_lag_seconds", {}, 1001],
    ["indexer_gaps", {}, 0],
    ["indexer_warning", { warning: "finalized_missing" }, 1],
    ["indexer_events_total", { kind: "condition_resolved" }, 12],
    ["indexer_match_anomalies_total", { kind: "legs_differ_from_summary" }, 14],
    ["indexer_quarantined_logs_total", { reason: 'a "quoted" reason\\with a backslash' }, 15],
    ["backfill_progress_ratio", {}, 0.5],
    ["backfill_remaining_seconds", {}, 26],
    ["rpc_calls_total", { host }, 21],
    ["rpc_calls_total", { host: `${host}#2` }, 31],
    ["rpc_latency_seconds", { host }, 0.0255],
    ["rpc_breaker_state", { host, state: "half_open" }, 1],
    ["rpc_breaker_state", { host, state: "closed" }, 0],
    ["http_requests_total", { method: "GET", route: "/v1/health", status: "200" }, 1],
    ["http_requests_total", { method: "GET", route: "unknown", status: "404" }, 1],
    ["http_refusals_total", { code: "NOT_FOUND" }, 1],
    ["http_request_duration_seconds_count", { method: "GET", route: "/v1/health" }, 1],
    ["store_rows", { table: "fills" }, 44],
    ["store_bytes", { table: "events" }, 42],
    ["store_failures_total", { operation: "insert" }, 48],
    ["store_query_duration_seconds_bucket", { le: "0.0025" }, 0],
    ["store_query_duration_seconds_bucket", { le: "0.005" }, 1],
    ["store_query_duration_seconds_sum", {}, 0.003],
    ["process_resident_memory_bytes", {}, 51_000_000],
    ["process_open_fds", {}, 54],
    ["process_cpu_system_seconds_total", {}, 56.25],
    ["nodejs_eventloop_lag_p99_seconds", {}, 0.057],
    ["uptime_seconds", {}, 3601.5],
  ];
  for (const [name, labels, value] of expected)
    assert.equal(
      reported.value(/^(?:process|nodejs)_/.test(name) ? name : `oddwire_${name}`, labels),
      value,
      name,
    );
});

test("200: an unknown value is absent, not 0", async () => {
  const { samples } = await scrape();
  const ofSecond = samples.filter(({ labels }) => labels["host"] === "node.example.com#2");
  const names = ofSecond.map(({ name }) => name);
  assert.ok(names.includes("oddwire_rpc_calls_total"));
  for (const name of ["latency_seconds", "calls_per_second_max", "range_blocks_max", "head_block"])
    assert.ok(!names.includes(`oddwire_rpc_${name}`), name);
});

test("200: has every number of the JSON metrics and every metric of the table", async () => {
  const reported = await scrape();
  for (const { name } of metricTable) {
    if (name !== "oddwire_http_refusals_total") assert.ok(reported.families.has(name), name);
  }
  const { api: _, ...rest } = await metrics.read();
  const values = new Set(reported.samples.map(({ value }) => value));
  for (const [place, number] of toNumbers(rest, "")) {
    const inBaseUnits = place.endsWith("_ms") ? number / 1000 : number;
    // Quantiles and counts of the store are in the buckets.
    if (/^\.store\.(queries|inserts)\.(p\d|count)/.test(place)) continue;
    assert.ok(values.has(inBaseUnits), `${place} = ${inBaseUnits} is not sent`);
  }
});

test("200: the separate listener for scrapers needs no key", async () => {
  const answer = await server.request("GET", "/metrics");
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.equal(assertEveryHeader(answer.headers).limit, 100);
  parsePrometheus(answer.text);
});

test("400: an unknown parameter", async () => {
  const answer = await server.request("GET", `${path}?name[]=up`, { key: read });
  assertError(answer, "VALIDATION_ERROR");
});

function toNumbers(value: unknown, place: string): [string, number][] {
  if (typeof value === "number") return [[place, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => toNumbers(inner, `${place}.${key}`));
}

test("promtool check metrics passes (skipped without promtool)", async (t) => {
  const { text } = await server.request("GET", "/v1/metrics/prometheus", { key: server.keys.read });
  const checked = spawnSync(checker, ["check", "metrics"], { input: text, encoding: "utf8" });
  if (checked.error !== undefined) return t.skip("NOT TESTED: there is no promtool");
  assert.equal(checked.stderr, "");
  assert.equal(checked.status, 0, checked.stdout);
});
