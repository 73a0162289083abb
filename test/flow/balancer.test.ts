/** What clients get from the balancer of deploy/cluster while no node is ready, and while none runs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasBalancer, openBalancer } from "../support/balancer.ts";
import { openClusterScene } from "../support/cluster-scene.ts";
import { findFreePort } from "../support/free-port.ts";
import { adminKey } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

test("nodes that are behind still serve requests, and without a node the error is one to retry", async (t) => {
  if (!hasBalancer()) return t.skip("NOT TESTED: there is no haproxy");
  const scene = await openClusterScene(t);
  // Without new blocks nodes are ready only for a moment, which a busy machine can miss.
  scene.chain.goOn(500);
  const indexer = await scene.start("index", "index-a");
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
  const apis = await Promise.all(
    ports.map(async (port) => {
      const settings = { ODDWIRE_PORT: String(port), ODDWIRE_READY_MAX_LAG_SECONDS: "1" };
      const api = await scene.start("api", `api-${port}`, settings);
      await api.waitReady();
      return api;
    }),
  );
  const url = await openBalancer(t, ports);
  const get = (path: string) => fetch(url + path, { headers: { "x-api-key": adminKey } });

  await indexer.kill9();
  for (const api of apis)
    await waitFor("a node that is not ready", async () => {
      return (await api.request("/v1/ready")).status === 503 ? true : null;
    });
  // Requests succeed before and after the balancer notices.
  await waitFor("the balancer to pass on a failed check", async () => {
    assert.equal((await get("/v1/trades")).status, 200);
    return (await get("/v1/ready")).status === 503 ? true : null;
  });
  assert.equal((await get("/v1/trades")).status, 200);

  for (const api of apis) await api.kill9();
  // Each retry can meet another connection that a node has just closed. Then the balancer closes the client's too.
  const response = await waitFor("an answer", () => get("/v1/trades").catch(() => null));
  assert.equal(response.status, 503);
  assert.equal(response.headers.get("retry-after"), "1");
  assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  assert.equal(error["code"], "SERVICE_UNAVAILABLE");
  assert.deepEqual(Object.keys(error), ["code", "message", "details", "request_id"]);
});
