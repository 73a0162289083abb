/** A cluster of real processes on a real ClickHouse and a real Redis. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertTradesServed } from "../support/assert-trades-served.ts";
import { describedMarkets, openClusterScene } from "../support/cluster-scene.ts";
import { waitFor } from "../support/wait-for.ts";

/** A node is not ready when it is a minute of chain time behind, which is a few blocks. */
const blockEveryMs = 1000;

test("a serving node has what the indexer indexes", async (t) => {
  const { chain, start } = await openClusterScene(t);
  chain.goOn(blockEveryMs);
  await start("index", "index");
  const api = await start("api", "api");
  await api.waitReady();
  await api.waitIndexed(chain.head);
  chain.stop();
  chain.settle();
  await api.waitFinalized(chain.head);
  await assertTradesServed(api, chain);
  await waitFor("the market metadata", () => describedMarkets(api));
});

test("an indexer that stands by takes over from one that was killed", async (t) => {
  const { chain, start } = await openClusterScene(t);
  chain.goOn(blockEveryMs);
  const active = await start("index", "a");
  const standby = await start("index", "b");
  const api = await start("api", "api");
  await api.waitReady();
  const { body } = await standby.request("/v1/ready");
  const { role, checks } = body as { role: string; checks: Record<string, { detail: string }> };
  assert.equal(role, "index");
  assert.match(checks["standby"]?.detail ?? "", /^stands by; active: \S+, term \d+$/);
  const metrics = await standby.request("/v1/metrics");
  assert.equal(metrics.status, 200);
  const { cluster } = metrics.body as { cluster: { is_active: boolean; redis_up: boolean } };
  assert.deepEqual([cluster.is_active, cluster.redis_up], [false, true]);
  await active.kill9();
  const killedAt = chain.head;
  await api.waitIndexed(killedAt + 2);
  chain.stop();
  chain.settle();
  await api.waitFinalized(chain.head);
  await assertTradesServed(api, chain);
});
