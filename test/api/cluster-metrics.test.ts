/** Metrics of the processes of a cluster: the active indexer, the age of the feed, and what a standby indexer reports. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Check } from "typebox/value";
import { AccessAudit } from "../../src/access/access-audit.ts";
import { toFamilies } from "../../src/api/metrics/metric-table.ts";
import { metricsSchema } from "../../src/api/metrics/metrics-schema.ts";
import { ServiceMetrics } from "../../src/api/metrics/service-metrics.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { indexingStatus, servingStatus } from "../../src/roles/cluster-parts.ts";
import { cleanUp } from "../support/clean-up.ts";
import { MemoryFeed } from "../support/memory-feed.ts";
import { silentLog } from "../support/silent-log.ts";

const redis = { isUp: true, downSeconds: 1.5 };

test("a standby indexer reports its role and the active indexer", async (t) => {
  const feed = new MemoryFeed();
  assert.equal(await feed.active(), null);
  await feed.beginTerm("one:1");
  const term = await feed.beginTerm("two:2");
  assert.deepEqual(await feed.active(), { node: "two:2", term: 2 });
  for (let seconds = 0; seconds < 100; seconds += 1) {
    const status = { node: "two:2", head: null, checks: {} };
    await feed.append(term, { kind: "status", status });
  }
  const active = await feed.active();
  assert.deepEqual(active, { node: "two:2", term: 2 });
  const access = { audit: new AccessAudit(silentLog), metrics: null };
  const about = { role: "index", chainId: 137, access } as const;
  const readCluster = async () => indexingStatus(redis, active, null);
  const metrics = ServiceMetrics.open({
    ...about,
    readCluster,
    clock: systemClock,
    log: silentLog,
  });
  cleanUp(t, () => metrics.close());
  const reading = await metrics.read();
  assert(Check(metricsSchema, reading));
  assert.equal(reading.role, "index");
  assert.equal(reading.indexer.indexed_block, null);
  assert.equal(reading.cluster?.indexer_active, false);
  const getSamples = (name: string) =>
    toFamilies(reading).find((family) => family.name === name)?.samples;
  assert.deepEqual(getSamples("oddwire_indexer_active_info"), [
    { labels: { node: "two:2" }, value: 1 },
  ]);
  assert.deepEqual(getSamples("oddwire_feed_age_seconds"), []);
  assert.deepEqual(getSamples("oddwire_redis_down_seconds_total"), [{ labels: {}, value: 1.5 }]);
});

test("the active indexer and a serving node report the metrics that only they have", () => {
  const own = indexingStatus(redis, { node: "one:1", term: 3 }, { openClaims: 2 });
  assert.deepEqual([own.indexer_active, own.indexer_open_claims, own.feed_term], [true, 2, 3]);
  const indexer = { node: "one:1", head: null, checks: {} };
  const serving = servingStatus(redis, { ageMs: 1234.5678, term: 3, indexer, hasGap: true });
  assert.equal(serving.feed_age_seconds, 1.235);
  assert.deepEqual(
    [serving.active_node, serving.feed_term, serving.feed_has_gap],
    ["one:1", 3, true],
  );
  const first = servingStatus(redis, { ageMs: null, term: null, indexer: null, hasGap: true });
  assert.equal(first.feed_age_seconds, null);
});
