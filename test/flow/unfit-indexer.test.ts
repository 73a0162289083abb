/** A cluster whose active indexer cannot follow the chain: who says so, and who takes over. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { cleanUp } from "../support/clean-up.ts";
import { openClusterScene } from "../support/cluster-scene.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { LiveChain } from "../support/live-chain.ts";
import { scriptBlocks } from "../support/script-blocks.ts";
import { ScriptedNode } from "../support/scripted-node.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import type { Page, Service } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

const blockEveryMs = 1000;
/** How long after the fault every node reports it, and some time for a busy machine. */
const reportedMsMax = 15_000 + 5_000;

type Lag = { readonly meta: { readonly lag_seconds: number | null } };
type Measured = {
  readonly indexer: { readonly lag_seconds: number; readonly head_age_seconds: number };
};

async function readLag(api: Service): Promise<number> {
  const { meta } = (await api.get<Page>("/v1/trades?limit=1")) as Page & Lag;
  return meta.lag_seconds ?? -1;
}

/** Waits until an indexer is the active one, and ready. A standby can be ready too. */
async function waitActive(index: Service): Promise<void> {
  await waitFor("the active indexer", async () => {
    const { status, body } = await index.request("/v1/ready");
    return status === 200 && "active" in (body as { checks: object }).checks ? true : null;
  });
}

test("every node reports stale data within 15 s when the active indexer has no endpoint", async (t) => {
  const { chain, start } = await openClusterScene(t);
  const endpoint = await CuttingProxy.open(t, chain.node.url);
  chain.goOn(blockEveryMs);
  const index = await start("index", "index", { ODDWIRE_RPC_URLS: endpoint.url });
  const api = await start("api", "api");
  await api.waitReady();
  endpoint.refuse();
  const cutAtMs = performance.now();
  await Promise.all([index.waitUnready("chain"), api.waitUnready("feed")]);
  const lag = await waitFor("the lag", async () => (await readLag(api)) || null);
  const reportedAfterMs = performance.now() - cutAtMs;
  assert(reportedAfterMs < reportedMsMax, `${reportedAfterMs} ms`);
  assert(lag >= 10);
  const { indexer } = await api.get<Measured>("/v1/metrics");
  assert(indexer.lag_seconds >= 10 && indexer.head_age_seconds >= 10);
  // A node that starts now, and an indexer without an endpoint, have nothing newer to say.
  assert.equal((await index.request("/v1/ready")).status, 503);
  endpoint.resume();
  await Promise.all([index.waitReady(), api.waitReady()]);
  await api.waitIndexed(chain.head);
  assert.equal(index.exitCode, null, "the only indexer goes on");
});

test("every node reports the lag while all endpoints stay at the same block", async (t) => {
  const { chain, start } = await openClusterScene(t);
  chain.goOn(blockEveryMs);
  await start("index", "index");
  const api = await start("api", "api");
  await api.waitReady();
  chain.stop();
  const stoppedAtMs = performance.now();
  await waitFor("the lag", async () => ((await readLag(api)) >= 10 ? true : null));
  assert(performance.now() - stoppedAtMs < reportedMsMax);
  chain.goOn(blockEveryMs);
  await waitFor("the end of the lag", async () => ((await readLag(api)) === 0 ? true : null));
});

/** What is wrong with the endpoint of the active indexer, while the standby has a good one. */
const faults: Readonly<
  Record<string, (t: TestContext, endpoint: CuttingProxy, chain: LiveChain) => Promise<void>>
> = {
  "is down": async (_, endpoint) => endpoint.refuse(),
  "does not answer": async (_, endpoint) => endpoint.stall(),
  "stays at the same block": async (t, endpoint, chain) => {
    const frozen = await ScriptedNode.open({
      blocks: scriptBlocks(chain.blocks.map(({ block }) => block)),
    });
    cleanUp(t, () => frozen.close());
    frozen.setFinalized(chain.head - chain.unfinalized);
    endpoint.leadTo(frozen.url);
  },
};

test("a standby takes over from an indexer whose endpoint", async (t) => {
  const { chain, start } = await openClusterScene(t);
  const startIndexer = async (name: string) => {
    const endpoint = await CuttingProxy.open(t, chain.node.url);
    return {
      endpoint,
      service: await start("index", name, { ODDWIRE_RPC_URLS: endpoint.url }),
    };
  };
  chain.goOn(blockEveryMs);
  let active = await startIndexer("a");
  await waitActive(active.service);
  let standby = await startIndexer("b");
  const api = await start("api", "api");
  await api.waitReady();
  for (const [fault, inflict] of Object.entries(faults)) {
    await t.test(fault, async () => {
      await standby.service.waitReady();
      await inflict(t, active.endpoint, chain);
      await waitActive(standby.service);
      await api.waitIndexed(chain.head + 2);
      // It starts again, and does not get the lease back.
      await waitFor("the old indexer on standby", async () => {
        const { body } = await active.service.request("/v1/ready");
        return "standby" in (body as { checks: object }).checks ? true : null;
      });
      await api.waitIndexed(chain.head + 2);
      await waitActive(standby.service);
      active.endpoint.resume();
      [active, standby] = [standby, active];
    });
  }
});

test("a standby takes over from an indexer of another chain", async (t) => {
  const { chain, start } = await openClusterScene(t);
  const first = await start("index", "first");
  await waitActive(first);
  const api = await start("api", "api");
  await api.waitReady();
  await first.kill9();
  // The same chain id, but other blocks.
  const other = await LiveChain.open(t, new SeededRandom(1));
  other.fork(5);
  other.settle();
  other.goOn(blockEveryMs);
  await start("index", "other", { ODDWIRE_RPC_URLS: other.node.url });
  chain.goOn(blockEveryMs);
  const good = await start("index", "good");
  await api.waitIndexed(chain.head + 2);
  await good.waitReady();
});

test("an indexer of a chain with another id exits instead of standing by", async (t) => {
  const { chain, start } = await openClusterScene(t);
  chain.goOn(blockEveryMs);
  const active = await start("index", "a");
  await waitActive(active);
  const node = await ScriptedNode.open({
    blocks: scriptBlocks(chain.blocks.map(({ block }) => block)),
    chainId: 1,
  });
  cleanUp(t, () => node.close());
  const ended = await start("index", "b", { ODDWIRE_RPC_URLS: node.url }).then(
    (service) => service.exited,
    (thrown: Error) => Number(/exit code (\d+)/.exec(String(thrown.cause))?.[1]),
  );
  assert.equal(ended, 75);
  await active.waitReady();
});
