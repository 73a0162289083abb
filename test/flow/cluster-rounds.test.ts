/**
 * A cluster of real processes on a real ClickHouse and a real Redis: one active indexer, one standby, three serving nodes.
 * Processes are killed, paused and upgraded, Redis is restarted empty, ClickHouse is restarted, and the chain has
 * reorgs, while clients read from and follow any node. `CLUSTER_ROUNDS` sets the number of rounds. 200 rounds kill
 * every process 20 times and restart Redis empty 10 times. `TEST_SEED` chooses another schedule.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { assertTradesServed } from "../support/assert-trades-served.ts";
import { cleanUp } from "../support/clean-up.ts";
import { dealFaults, type Fault } from "../support/cluster-faults.ts";
import { ClusterNodes } from "../support/cluster-nodes.ts";
import { type ClusterScene, describedMarkets, openClusterScene } from "../support/cluster-scene.ts";
import { ResumingClient } from "../support/resuming-client.ts";
import { adminKey, type Page, type Service } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";
import { WanderingReader } from "../support/wandering-reader.ts";

const rounds = Number(process.env["CLUSTER_ROUNDS"] ?? 2);
const forkDepthMax = 30;
const blockEveryMs = 300;

test(`R11, R17: all nodes return the same as a single process after ${rounds} rounds of faults and upgrades`, async (t) => {
  const scene = await openClusterScene(t);
  const { chain } = scene;
  chain.goOn(blockEveryMs);
  const nodes = await ClusterNodes.start(scene);
  const clients = [1, 2].map(() => new ResumingClient(() => nodes.pickUrl(), adminKey));
  for (const client of clients) cleanUp(t, () => client.close());
  const reader = WanderingReader.start(nodes, adminKey);
  cleanUp(t, () => reader.close());
  for (const [round, faults] of dealFaults(scene.random).slice(0, rounds).entries()) {
    const startedMs = performance.now();
    await playRound({ scene, nodes }, faults);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    t.diagnostic(`round ${round}: ${faults.join(" and ")}, new blocks after ${seconds} s`);
  }
  chain.stop();
  chain.settle();
  for (const api of nodes.apis) await api.waitFinalized(chain.head);
  const [api] = nodes.apis;
  assert(api !== undefined);
  await assertTradesServed(api, chain);
  await assertClientsHaveAll({ api, clients, reader });
  t.diagnostic(`${reader.answered} requests answered, ${reader.refused} to be sent again later`);
  await assertAnswersEqual(await scene.start("serve", "alone"), nodes.apis, chain.head);
});

type Parts = { readonly scene: ClusterScene; readonly nodes: ClusterNodes };

async function playRound(parts: Parts, faults: readonly Fault[]): Promise<void> {
  const { chain, random } = parts.scene;
  // This delay waits for nothing. It makes the moment of the fault random.
  await delay(random.next() * 500);
  await Promise.all(faults.map((fault) => play(fault, parts)));
  const { head } = chain;
  // A block above the current head proves that the node has recovered from the faults.
  for (const api of parts.nodes.apis) await api.waitIndexed(head + 1);
  await parts.nodes.restartKilled();
}

async function play(fault: Fault, { scene, nodes }: Parts): Promise<void> {
  const { redis, clickhouse } = scene;
  switch (fault) {
    case "redis":
      return redis.restart();
    case "clickhouse":
      return clickhouse.restart();
    case "fork":
      return fork(scene);
    case "pause":
      return nodes.pauseActive();
    case "upgrade":
      return nodes.upgrade();
    default:
      return nodes.kill(fault);
  }
}

/** Replaces up to `forkDepthMax` blocks. Finality waits until then, so that they are still unfinalized. */
async function fork({ chain, random }: ClusterScene): Promise<void> {
  const depth = random.chance(0.3) ? forkDepthMax : random.integer(1, forkDepthMax);
  chain.holdFinality();
  await waitUntil(`${depth} unfinalized blocks`, () => chain.unfinalized >= depth);
  chain.fork(depth);
  chain.releaseFinality();
}

/** Asserts that every stream client and the reader have received every trade exactly once. */
async function assertClientsHaveAll(parts: {
  readonly api: Service;
  readonly clients: readonly ResumingClient[];
  readonly reader: WanderingReader;
}): Promise<void> {
  const { api, clients, reader } = parts;
  const rows = await api.getAllPages("/v1/trades?order=asc&limit=1000");
  const expected = getIds(rows);
  for (const client of clients) {
    const isDone = () => client.failure !== null || client.rows.size === expected.length;
    await waitUntil("all trades on a stream", isDone);
    await client.close();
    const bySeq = [...client.rows].toSorted(([, one], [, other]) => one.seq - other.seq);
    assert.deepEqual(
      bySeq.map(([id]) => id),
      expected,
    );
  }
  const isRead = () => reader.failure !== null || reader.ids.length >= expected.length;
  await waitUntil("all trades in pages", isRead);
  await reader.close();
  assert.deepEqual(reader.ids, expected);
}

async function waitUntil(what: string, isSo: () => boolean): Promise<void> {
  await waitFor(what, async () => (isSo() ? true : null));
}

/** Asserts that every node returns the same bytes as a single process that has indexed the chain alone. */
async function assertAnswersEqual(
  alone: Service,
  apis: readonly Service[],
  head: number,
): Promise<void> {
  await alone.waitFinalized(head);
  // Each process reads market metadata from the venue independently of the chain.
  for (const one of [alone, ...apis]) {
    await waitFor("the market metadata", () => describedMarkets(one));
  }
  const trades = await alone.getAllPages("/v1/trades?limit=1000");
  const tokens = [...new Set(trades.map((row) => String(row["token_id"])))];
  const paths = [
    "/v1/trades?limit=500",
    "/v1/fills?limit=500&order=asc",
    "/v1/resolutions?limit=500",
    "/v1/cancellations?limit=500",
    ...["volume_24h", "volume", "created_at"].map((sort) => `/v1/markets?limit=100&sort=${sort}`),
    "/v1/events?limit=50",
    ...tokens.flatMap((id) => [
      `/v1/price/${id}`,
      `/v1/candles/${id}?resolution=1m&limit=1000`,
      `/v1/candles/${id}?resolution=1h&source=own`,
      `/v1/trades/market/${id}?include_complement=true`,
    ]),
  ];
  for (const path of paths) {
    const expected = comparable(await alone.getText(path));
    for (const api of apis) {
      const received = comparable(await api.getText(path));
      if (received !== expected) assert.deepEqual(JSON.parse(received), JSON.parse(expected), path);
    }
  }
  for (const sort of ["volume_24h", "volume", "created_at"]) {
    for (const path of [`/v1/markets?sort=${sort}`, `/v1/events?sort=${sort}`]) {
      const expected = await alone.getAllPages(`${path}&limit=50`);
      assert.deepEqual(await readPagesInTurn(apis, `${path}&limit=2`), getIds(expected), path);
    }
  }
}

/** The ids of a list. Each page is read from the next node. */
async function readPagesInTurn(
  apis: readonly Service[],
  path: string,
): Promise<readonly unknown[]> {
  const ids: unknown[] = [];
  let cursor: string | null = "";
  for (let page = 0; cursor !== null; page += 1) {
    const api = apis[page % apis.length];
    assert(api !== undefined);
    const suffix: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { data, pagination }: Page = await api.get<Page>(path + suffix);
    ids.push(...getIds(data));
    cursor = pagination.next_cursor;
  }
  return ids;
}

function getIds(rows: Page["data"]): readonly unknown[] {
  return rows.map(({ id }) => id);
}

/**
 * Removes what differs between nodes: request ids, cursors (each service signs its own), the head, and the lag, which
 * grows once a node has seen no new block for ten seconds.
 */
function comparable(text: string): string {
  return text
    .replace(/"request_id":"[^"]*"/, '"request_id":""')
    .replace(/"next_cursor":"[^"]*"/, '"next_cursor":""')
    .replace(/"head_block":\d+/, '"head_block":0')
    .replace(/"lag_seconds":\d+/, '"lag_seconds":0');
}
