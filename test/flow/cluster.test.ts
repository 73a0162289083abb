/** A cluster of real processes on a real ClickHouse and a real Redis. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { isTrade } from "../../src/market/fill.ts";
import { orderRepair } from "../../src/storage/repair.ts";
import { assertTradesServed } from "../support/assert-trades-served.ts";
import { describedMarkets, openClusterScene } from "../support/cluster-scene.ts";
import { openServerEngine } from "../support/open-engines.ts";
import type { Page, Service } from "../support/service.ts";
import { encode, factsOf } from "../support/store-chain.ts";
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

test("a serving node loads again what an indexer repairs", async (t) => {
  const { chain, clickhouse, start } = await openClusterScene(t);
  chain.grow(60);
  chain.settle();
  const index = await start("index", "index");
  const api = await start("api", "api");
  await api.waitFinalized(chain.head);
  const before = await readVolumes(api);
  await index.kill9();
  // As an audit orders it, but for a block that was right: from now on it has no fills.
  const engine = await openServerEngine(t, clickhouse, { database: "facts" });
  const block = factsOf(chain.blocks).findLast(({ fills }) => fills.filter(isTrade).length > 2);
  assert(block !== undefined);
  await orderRepair(engine, encode([{ ...block, fills: [], anomalies: [] }]));
  const repairing = await start("index", "index");
  await waitFor("the repaired volumes", async () => {
    const now = await readVolumes(api).catch(() => before);
    return isDeepStrictEqual(now, before) ? null : now;
  });
  // Before an audit finds out that the repair was wrong.
  await repairing.kill9();
  const fresh = await start("api", "fresh");
  assert.deepEqual(await readVolumes(api), await readVolumes(fresh));
  const path = `/v1/trades?from_block=${block.number}&to_block=${block.number}`;
  for (const node of [api, fresh]) assert.deepEqual((await node.get<Page>(path)).data, []);
});

/** What views of a node have summed up, by market. */
async function readVolumes(api: Service): Promise<readonly unknown[]> {
  const rows = await api.getAllPages("/v1/markets?limit=100&sort=created_at&order=asc");
  return rows.map((row) => [row["id"], row["volume_usd"], row["trades"]]);
}
