/** Compares the metrics of a running service with the recording that it has indexed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Check } from "typebox/value";
import { type Metrics, metricsSchema } from "../../src/api/metrics/metrics-schema.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { badGateway, hang } from "../support/faults.ts";
import { parsePrometheus } from "../support/parse-prometheus.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { requestedRange } from "../support/scripted-answers.ts";
import type { Service } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";
import { readText } from "../tidy/project-files.ts";

const recording = readRecording("contracts-a");
const alerts = readText("deploy/alerts.yml");

async function readMetrics(service: Service): Promise<Metrics> {
  const metrics = await service.get<Metrics>("/v1/metrics");
  assert.ok(Check(metricsSchema, metrics), JSON.stringify(metrics));
  return metrics;
}

test("the counts equal the recording, in JSON and in Prometheus format", async (t) => {
  const stage = await serveRecording(t, recording);
  const service = await stage.startService();
  await service.waitFinalized(stage.head);
  const { indexer, api, store, process } = await readMetrics(service);

  const fills = recording.trades.length + recording.matches.length;
  const { events } = indexer;
  assert.equal(indexer.chain_id, 137);
  assert.deepEqual(
    [indexer.head_block, indexer.indexed_block, indexer.finalized_block],
    [stage.head, stage.head, stage.head],
  );
  assert.deepEqual(indexer.coverage, { from_block: 0, to_block: stage.head });
  // The chain of the recording stands still, which counts as a lag after a while.
  assert.deepEqual([indexer.lag_blocks, indexer.gaps], [0, 0]);
  assert.equal(indexer.backfill, null);
  assert.deepEqual([indexer.reorgs, indexer.deepest_reorg_blocks], [0, 0]);
  assert.equal(indexer.trades, recording.trades.length);
  assert.equal(events["order_filled"], fills);
  assert.equal(events["order_cancelled"], recording.cancels.length);
  assert.equal(
    events["condition_resolved"],
    recording.markets.filter(({ resolved }) => resolved !== null).length,
  );
  // In two matches the exchange had received extra collateral, which it passed on to the taker.
  assert.deepEqual(indexer.match_anomalies, { legs_differ_from_summary: 2 });
  assert.deepEqual(indexer.quarantined_logs, {});
  const [endpoint, ...others] = indexer.endpoints;
  assert.deepEqual(others, []);
  assert.equal(endpoint?.host, new URL(stage.node.url).host);
  assert.ok(endpoint.calls > 0 && (endpoint.latency_ms ?? 0) > 0);
  assert.equal(endpoint.breaker_state, "closed");
  const tables = new Map(store.tables?.map((table) => [table.table, table]));
  assert.equal(tables.get("fills")?.rows, fills);
  assert.ok((tables.get("fills")?.bytes ?? 0) > 10_000);
  assert.equal(tables.get("quarantine")?.rows, 0);
  assert.ok(store.queries.count > 0 && store.inserts.count > 0);
  assert.ok((store.inserts.p50_ms ?? 0) > 0);
  assert.ok(api.requests > 0 && api.errors === 0);
  assert.ok(process.memory.resident_memory_bytes > 50_000_000 && process.cpu_user_seconds > 0);

  const reported = parsePrometheus(await service.getText("/v1/metrics/prometheus"));
  assert.deepEqual(reported.byLabel("oddwire_indexer_events_total", "kind"), events);
  assert.deepEqual(
    reported.byLabel("oddwire_indexer_match_anomalies_total", "kind"),
    indexer.match_anomalies,
  );
  const rows = [...tables].map(([table, size]) => [table, size.rows]);
  assert.deepEqual(reported.byLabel("oddwire_store_rows", "table"), Object.fromEntries(rows));
  assert.equal(reported.value("oddwire_indexer_trades_total"), indexer.trades);
  assert.equal(reported.value("oddwire_indexer_indexed_block"), stage.head);
  assert.equal(reported.value("oddwire_store_insert_duration_seconds_count"), store.inserts.count);
  const { host } = endpoint;
  assert.ok(reported.value("oddwire_rpc_calls_total", { host }) >= endpoint.calls);
  // Prometheus does not count the first value of a series as an increase, so an alert misses it.
  const counted = [...alerts.matchAll(/\b(?:increase|rate|delta)\((\w+)/g)].map(([, name]) => name);
  const reportedNames = new Set(reported.samples.map(({ name }) => name));
  assert.deepEqual(
    counted.filter((name = "") => !reportedNames.has(name)),
    ["oddwire_redis_down_seconds_total"],
  );
  assert.equal(await service.stop(), 0);
});

test("reorgs and failing endpoints are counted", async (t) => {
  const stage = await serveRecording(t, recording);
  const { node, head } = stage;
  node.setFinalized(head - 20);
  const service = await stage.startService();
  await service.waitIndexed(head);
  const rival = buildBlocks(
    Array.from({ length: 12 }, () => ({})),
    { after: recording.blocks[head - 10], salt: "rival" },
  );
  node.fork(rival);
  await service.waitIndexed(head + 2);
  const forked = await readMetrics(service);
  assert.deepEqual([forked.indexer.reorgs, forked.indexer.deepest_reorg_blocks], [1, 10]);
  assert.equal(forked.indexer.coverage?.to_block, head - 20);
  assert.equal(forked.indexer.unfinalized_blocks, 22);

  node.fault(() => badGateway);
  await waitFor("the breaker to open", async () => {
    const [endpoint] = (await readMetrics(service)).indexer.endpoints;
    return endpoint !== undefined && endpoint.breaker_state !== "closed" ? endpoint : null;
  });
  const broken = await readMetrics(service);
  assert.ok((broken.indexer.endpoints[0]?.errors ?? 0) >= 3);
  assert.deepEqual(broken.indexer.warnings, ["no_endpoint"]);
});

test("a backfill is reported with its range, progress and rates", async (t) => {
  const stage = await serveRecording(t, recording);
  const answered = 1_200;
  stage.node.fault((request, chain) => {
    const range = requestedRange(request, chain);
    return range !== null && range.to > answered ? hang : null;
  });
  const service = await stage.startService();
  await service.waitIndexed(400);
  const backfill = await waitFor("rates", async () => {
    const { indexer } = await readMetrics(service);
    return indexer.backfill?.blocks_per_second === null ? null : indexer.backfill;
  });
  assert.ok(backfill !== null);
  assert.deepEqual([backfill.from_block, backfill.to_block], [0, stage.head]);
  assert.ok(backfill.progress_ratio > 400 / stage.head && backfill.progress_ratio < 1);
  await waitFor("the same progress in both forms", async () => {
    const reported = parsePrometheus(await service.getText("/v1/metrics/prometheus"));
    assert.equal(reported.value("oddwire_backfill_to_block"), stage.head);
    const { indexer } = await readMetrics(service);
    const progress = reported.value("oddwire_backfill_progress_ratio");
    return progress === indexer.backfill?.progress_ratio ? true : null;
  });
});

test("the separate listener for scrapers serves metrics and nothing else", async (t) => {
  const stage = await serveRecording(t, recording);
  const service = await stage.startService([stage.node.url], { ODDWIRE_METRICS_PORT: "0" });
  await service.waitIndexed(stage.head);
  const [, url] =
    /"url":"(http:\/\/127\.0\.0\.1:\d+)","path":"\/metrics"/.exec(service.stderr) ?? [];
  assert.ok(url !== undefined && url !== service.baseUrl, service.stderr);
  const answer = await fetch(new URL("/metrics", url));
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const reported = parsePrometheus(await answer.text());
  assert.equal(reported.value("oddwire_indexer_indexed_block"), stage.head);
  for (const path of ["/", "/v1/metrics", "/v1/health", "/v1/trades", "/v1/metrics/prometheus"]) {
    const refused = await fetch(new URL(path, url));
    assert.equal(refused.status, 404, path);
    await refused.arrayBuffer();
  }
  assert.equal(await service.stop(), 0);
});
