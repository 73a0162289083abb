/**
 * A rolling upgrade as docs/cluster.md describes it, behind the balancer of deploy/cluster with its shipped configuration.
 * Under load every request succeeds or gets 503 with `Retry-After`, and no trade is lost on a stream.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { hasBalancer, openBalancer } from "../support/balancer.ts";
import { cleanUp } from "../support/clean-up.ts";
import { type ClusterScene, openClusterScene } from "../support/cluster-scene.ts";
import { findFreePort } from "../support/free-port.ts";
import { ResumingClient } from "../support/resuming-client.ts";
import { adminKey, type Service } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";
import { WanderingReader } from "../support/wandering-reader.ts";

const blockEveryMs = 1000;
const loops = 8;
const pauseMs = 100;
const paths = ["/v1/trades?limit=50", "/v1/markets?limit=20", "/v1/fills?limit=50&order=asc"];

test("R11: a rolling upgrade under load fails no request and loses no trade on a stream", async (t) => {
  if (!hasBalancer()) return t.skip("NOT TESTED: there is no haproxy");
  const scene = await openClusterScene(t);
  const { chain } = scene;
  chain.goOn(blockEveryMs);
  let indexers = [await scene.start("index", "index-a"), await scene.start("index", "index-b")];
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
  const apis: Service[] = [];
  for (const port of ports) apis.push(await startApi(scene, port));
  const url = await openBalancer(t, ports);
  const load = new Load(url);
  cleanUp(t, () => load.close());
  const clients = [1, 2].map(() => new ResumingClient(() => url, adminKey));
  for (const client of clients) cleanUp(t, () => client.close());
  const reader = WanderingReader.start({ pickUrl: () => url, wasKilled: () => false }, adminKey);
  cleanUp(t, () => reader.close());
  for (const [index, port] of ports.entries()) {
    assert.equal(await apis[index]?.stop(), 0);
    apis[index] = await startApi(scene, port);
  }
  for (const name of ["index-b", "index-a"]) {
    assert.equal(await indexers.at(-1)?.stop(), 0);
    const upgraded = await scene.start("index", name);
    await upgraded.waitReady();
    indexers = [upgraded, ...indexers.slice(0, -1)];
  }
  const [api] = apis;
  assert(api !== undefined);
  await api.waitIndexed(chain.head + 2);
  await load.close();
  t.diagnostic(`${load.answered} requests answered, ${load.toRetry} to be sent again later`);
  assert(load.answered > 0);
  chain.stop();
  chain.settle();
  for (const each of apis) await each.waitFinalized(chain.head);
  const ids = (await api.getAllPages("/v1/trades?order=asc&limit=1000")).map(({ id }) => id);
  for (const client of clients) {
    const isDone = () => client.failure !== null || client.rows.size === ids.length;
    await waitFor("all trades on a stream", async () => (isDone() ? true : null));
    await client.close();
    const bySeq = [...client.rows].toSorted(([, one], [, other]) => one.seq - other.seq);
    assert.deepEqual(
      bySeq.map(([id]) => id),
      ids,
    );
  }
  const isRead = () => reader.failure !== null || reader.ids.length >= ids.length;
  await waitFor("all trades in pages", async () => (isRead() ? true : null));
  await reader.close();
  assert.deepEqual(reader.ids, ids);
});

/** Starts a serving node on this port and waits until it is ready. */
async function startApi(scene: ClusterScene, port: number): Promise<Service> {
  const settings = {
    ODDWIRE_PORT: String(port),
    // The chain's time runs faster than the clock: a busy machine is behind by more than the default in seconds.
    ODDWIRE_READY_MAX_LAG_SECONDS: "3600",
  };
  const api = await scene.start("api", `api-${port}`, settings);
  await api.waitReady();
  return api;
}

/** Clients whose short pauses leave the processor to the processes that restart. */
class Load {
  answered = 0;
  toRetry = 0;
  #isClosed = false;
  readonly #running: Promise<unknown>;

  constructor(url: string) {
    this.#running = Promise.all(Array.from({ length: loops }, () => this.#run(url)));
    // `close` throws the error.
    this.#running.catch(() => {});
  }

  /** Throws if any response was neither 200 nor 503 with `Retry-After`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(url: string): Promise<void> {
    for (let turn = 0; !this.#isClosed; turn += 1) {
      await delay(pauseMs);
      const path = paths[turn % paths.length] ?? "";
      const response = await fetch(url + path, { headers: { "x-api-key": adminKey } });
      const text = await response.text();
      if (response.status === 503 && response.headers.has("retry-after")) {
        this.toRetry += 1;
        continue;
      }
      assert.equal(response.status, 200, `${path}: ${text}`);
      this.answered += 1;
    }
  }
}
