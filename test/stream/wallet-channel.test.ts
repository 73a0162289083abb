/** The channel of wallets: every row of their activity, replayed, live and after a reorg. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { StreamClient } from "../support/stream-client.ts";
import { waitFor } from "../support/wait-for.ts";

const server = await DataServer.open();
after(() => server.close());
const key = server.edge.keys.read;

const later = server.facts.filter(({ number }) => number > server.newestBlock);
/** The wallets with the most rows in the blocks to come. */
const wallets = [
  ...Map.groupBy(
    later.flatMap(({ ledger }) => ledger),
    ({ wallet }) => wallet,
  ),
]
  .toSorted(([, one], [, other]) => other.length - one.length)
  .slice(0, 3)
  .map(([wallet]) => wallet);

async function readRest(): Promise<Row[]> {
  const rows = await Promise.all(
    wallets.map((wallet) => server.getAll(`/v1/wallets/${wallet}/activity?order=asc&limit=1000`)),
  );
  return rows.flat();
}

/** The fields that never change, in the order of ids. */
function sorted(rows: readonly Row[]): unknown[] {
  return rows
    .map((row): Row => ({ ...row, status: null }))
    .toSorted((one, other) => (String(one["id"]) < String(other["id"]) ? -1 : 1));
}

test("replay, live rows and a reorg leave a client with the rows of REST", async () => {
  const client = await StreamClient.open(server.edge.url, { key });
  const channel = { type: "wallet", wallets };
  const { subscription_id: id } = await client.subscribe(channel, { resume_from: 0 });
  const rows = new Map<string, Row>();
  let taken = 0;
  const fold = () => {
    for (; taken < client.frames.length; taken += 1) {
      const frame = client.frames[taken];
      if (frame === undefined || frame["subscription_id"] !== id) continue;
      const data = frame["data"] as Row;
      if (frame.type === "event") {
        assert(!rows.has(String(data["id"])), "no row is sent twice");
        rows.set(String(data["id"]), data);
      }
      for (const gone of (frame["reverted"] as string[] | undefined) ?? []) rows.delete(gone);
    }
  };
  const equalsRest = () =>
    waitFor("the rows of REST", async () => {
      fold();
      const expected = await readRest();
      return rows.size === expected.length ? expected : null;
    });
  const before = await equalsRest();
  assert.deepEqual(sorted([...rows.values()]), sorted(before));
  const safe = server.newestBlock;
  const target = later.findLast(({ ledger }) =>
    ledger.some(({ wallet }) => wallets.includes(wallet)),
  );
  await server.advance({ unfinalized: target?.number ?? safe });
  const live = await equalsRest();
  assert(live.length > before.length);
  assert.deepEqual(sorted([...rows.values()]), sorted(live));
  await server.fork(
    safe,
    later.filter(({ number }) => number <= safe + 3),
  );
  const forked = await equalsRest();
  assert(client.frames.some(({ type }) => type === "reorg"));
  assert.deepEqual(sorted([...rows.values()]), sorted(forked));
  client.close();
});

test("wallets are required, and other fields are refused", async () => {
  const client = await StreamClient.open(server.edge.url, { key });
  for (const channel of [
    { type: "wallet" },
    { type: "wallet", wallets: [] },
    { type: "wallet", wallets, token_id: "1" },
    { type: "trades", wallets },
  ]) {
    client.send({ action: "subscribe", channel });
  }
  await waitFor("errors", async () =>
    client.frames.filter(({ type }) => type === "error").length === 4 ? true : null,
  );
  client.close();
});
