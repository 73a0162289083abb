/** What a reorg reverts, in every channel with rows. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatTokenId } from "../../src/base/ids.ts";
import { isTrade } from "../../src/market/fill.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { StreamClient } from "../support/stream-client.ts";

const server = await DataServer.open({ finalBlocks: 50, unfinalizedBlocks: 0 });
after(() => server.close());

test("a reorg names the reverted rows of each channel, and candles by their time", async () => {
  const client = await StreamClient.open(server.edge.url, { key: server.edge.keys.admin });
  const safe = server.newestBlock;
  const later = server.facts.filter(({ number }) => number > safe && number <= 740);
  const tokens = Map.groupBy(
    later.flatMap(({ fills }) => fills.filter(isTrade)),
    ({ tokenId }) => tokenId,
  );
  const [[tokenId, trades = []] = []] = tokens;
  assert(tokenId !== undefined);
  const token_id = formatTokenId(tokenId);
  const channels = [
    [{ type: "token_trades", token_id, filter: { side: trades[0]?.side } }, "id"],
    [{ type: "markets" }, "id"],
    [{ type: "resolutions" }, "id"],
    [{ type: "cancellations" }, "id"],
    [{ type: "candles", token_id, resolution: "1m" }, "timestamp"],
    [{ type: "trades" }, "id"],
  ] as const;
  const names = new Map<unknown, string>();
  for (const [channel, name] of channels)
    names.set((await client.subscribe(channel))["subscription_id"], name);
  await server.advance({ unfinalized: later.at(-1)?.number ?? 0 });
  const ids = [...names.keys()];
  await client.until("events", () => ids.every((id) => client.events(id).length > 0));
  const all = [...tokens.values()].flat().length;
  await client.until("all trades", () => client.events(ids.at(-1)).length === all);
  await server.fork(safe, []);
  for (const [id, name] of names) {
    const { reverted } = await client.next("reorg", { subscription_id: id });
    const sent = client.events(id).map(({ data }) => (data as Row)[name]);
    assert.deepEqual(new Set(reverted as unknown[]), new Set(sent), `${String(id)} ${name}`);
  }
  client.close();
});
