/**
 * A cluster of real processes on a real ClickHouse and a real Redis: one active indexer, one standby, three serving nodes.
 * Processes are killed, paused and upgraded, Redis is restarted empty, ClickHouse is restarted, and the chain forks, while
 * clients read and follow on whichever node. `CLUSTER_ROUNDS` makes a campaign of it: the first 8 are one of each kind;
 * `TEST_SEED` plays other rounds.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { assertTradesServed } from "../support/assert-trades-served.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClusterNodes } from "../support/cluster-nodes.ts";
import { type ClusterScene, describedMarkets, openClusterScene } from "../support/cluster-scene.ts";
import { ResumingClient } from "../support/resuming-client.ts";
import { adminKey, type Page, type Service } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";
import { WanderingReader } from "../support/wandering-reader.ts";

const rounds = Number(process.env["CLUSTER_ROUNDS"] ?? 2);
const forkDepthMax = 30;
const blockEveryMs = 300;

test(`all nodes answer as one process after ${rounds} rounds of faults and upgrades`, async (t) => {
  const scene = await openClusterScene(t);
  const { chain } = scene;
  chain.goOn(blockEveryMs);
  const nodes = await ClusterNodes.start(scene);
  const clients = [1, 2].map(() => new ResumingClient(() => nodes.pickUrl(), adminKey));
  for (const client of clients) cleanUp(t, () => client.close());
  const reader = WanderingReader.start(nodes, adminKey);
  cleanUp(t, () => reader.close());
  for (let round = 0; round < rounds; round += 1) await playRound(t, { scene, nodes, round });
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

type Round = { readonly scene: ClusterScene; readonly nodes: ClusterNodes; readonly round: number };

/** The first rounds are one of each, so that few rounds see the most. */
const happenings = [
  "redis",
  "active",
  "upgrade",
  "api",
  "fork",
  "standby",
  "pause",
  "clickhouse",
] as const;
type Happening = (typeof happenings)[number];

async function playRound(t: TestContext, { scene, nodes, round }: Round): Promise<void> {
  const { chain, random } = scene;
  const what: Happening[] = [happenings[round] ?? random.pick(happenings)];
  // Later rounds also play two at the same time.
  if (round >= happenings.length && !what.includes("upgrade") && random.chance(0.5)) {
    const more = (["redis", "clickhouse", "fork"] as const).filter((one) => !what.includes(one));
    what.push(random.pick(more));
  }
  const startedMs = performance.now();
  await Promise.all(what.map((one) => play(one, { scene, nodes })));
  const { head } = chain;
  // What is not reverted by then is a block that came after.
  for (const api of nodes.apis) await api.waitIndexed(head + 1);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  await nodes.restartKilled();
  t.diagnostic(`round ${round}: ${what.join(" and ")}, new blocks after ${seconds} s`);
}

async function play(what: Happening, { scene, nodes }: Omit<Round, "round">): Promise<void> {
  const { chain, redis, clickhouse, random } = scene;
  switch (what) {
    case "redis":
      return redis.restart();
    case "clickhouse":
      return clickhouse.restart();
    case "fork":
      return chain.fork(random.integer(1, forkDepthMax));
    case "pause":
      return nodes.pauseActive();
    case "upgrade":
      return nodes.upgrade();
    default:
      return nodes.kill(what);
  }
}

/** Every trade is with each client of the stream and with the reader, once. */
async function assertClientsHaveAll(parts: {
  readonly api: Service;
  readonly clients: readonly ResumingClient[];
  readonly reader: WanderingReader;
}): Promise<void> {
  const { api, clients, reader } = parts;
  const rows = await api.getAllPages("/v1/trades?order=asc&limit=1000");
  const expected = idsOf(rows);
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

/** Every node answers the same bytes as one process that has indexed the chain alone. */
async function assertAnswersEqual(
  alone: Service,
  apis: readonly Service[],
  head: number,
): Promise<void> {
  await alone.waitFinalized(head);
  // What the venue says is read in its own time.
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
    for (const api of apis) assert.equal(comparable(await api.getText(path)), expected, path);
  }
  for (const sort of ["volume_24h", "volume", "created_at"]) {
    for (const path of [`/v1/markets?sort=${sort}`, `/v1/events?sort=${sort}`]) {
      const expected = await alone.getAllPages(`${path}&limit=50`);
      assert.deepEqual(await readPagesInTurn(apis, `${path}&limit=2`), idsOf(expected), path);
    }
  }
}

/** The ids of a list of which each page is read on the next node. */
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
    ids.push(...idsOf(data));
    cursor = pagination.next_cursor;
  }
  return ids;
}

function idsOf(rows: Page["data"]): readonly unknown[] {
  return rows.map(({ id }) => id);
}

/** Cursors are signed by each service; the head comes with a status every second. */
function comparable(text: string): string {
  return text
    .replace(/"request_id":"[^"]*"/, "")
    .replace(/"next_cursor":"[^"]*"/, "")
    .replace(/"head_block":\d+/, "");
}
