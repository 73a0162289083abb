/** The channel of open interest: the newest figures of markets, live and after a reorg. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { StreamClient } from "../support/stream-client.ts";
import { waitFor } from "../support/wait-for.ts";

const server = await DataServer.open();
after(() => server.close());
const key = server.edge.keys.read;

const later = server.facts.filter(({ number }) => number > server.newestBlock);
const markets = await server.getAll("/v1/markets?sort=open_interest&limit=100");
const ids = markets.slice(0, 20).map((row) => String(row["id"]));

/** What REST says of each market that was ever minted. */
async function readRest(): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const id of ids) {
    const path = `/v1/markets/${id}/open-interest?order=desc&limit=1`;
    const [point] = (await server.getPage(path)).data;
    if (point === undefined) continue;
    const { complete, supply, open_interest_usd, collateral_usd } = point;
    found.set(id, { condition_id: id, complete, supply, open_interest_usd, collateral_usd });
  }
  return found;
}

test("replay, live rows and a reorg leave a client with the newest points of REST", async () => {
  const client = await StreamClient.open(server.edge.url, { key });
  const channel = { type: "open_interest", condition_ids: ids };
  const { subscription_id: id } = await client.subscribe(channel, { resume_from: 0 });
  const equalsRest = () =>
    waitFor("the figures of REST", async () => {
      const rows = new Map<string, Row>();
      for (const frame of client.frames) {
        if (frame["subscription_id"] !== id || frame.type !== "event") continue;
        const data = frame["data"] as Row;
        rows.set(String(data["condition_id"]), data);
      }
      const expected = await readRest();
      const own = [...expected.keys()].map((one) => rows.get(one));
      return JSON.stringify(own) === JSON.stringify([...expected.values()]) ? rows.size : null;
    });
  assert((await equalsRest()) > 5);
  const safe = server.newestBlock;
  await server.advance({ unfinalized: later[20]?.number ?? safe });
  await equalsRest();
  await server.fork(
    safe,
    later.filter(({ number }) => number <= safe + 3),
  );
  await equalsRest();
  client.close();
});

test("markets are required, and other fields are refused", async () => {
  const client = await StreamClient.open(server.edge.url, { key });
  for (const channel of [
    { type: "open_interest" },
    { type: "open_interest", condition_ids: [] },
    { type: "open_interest", condition_ids: ["7"] },
    { type: "open_interest", condition_ids: ids, wallets: [] },
    { type: "trades", condition_ids: ids },
  ]) {
    client.send({ action: "subscribe", channel });
  }
  await waitFor("errors", async () =>
    client.frames.filter(({ type }) => type === "error").length === 5 ? true : null,
  );
  client.close();
});
