/** Lists that the client reads from a real service. */
import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { OddwireClient } from "../../clients/typescript/src/client.ts";
import type { Observation } from "../../src/api/metrics/request-meter.ts";
import { DataServer } from "../support/open-data-server.ts";

suite("pages", () => {
  const answered: Observation[] = [];
  let server: DataServer;
  let client: OddwireClient;
  before(async () => {
    server = await DataServer.open({ observe: (observation) => answered.push(observation) });
    client = new OddwireClient({ url: server.edge.url, key: server.edge.keys.admin });
  });
  after(async () => server.close());

  test("have every row once and in order", async () => {
    const query = { order: "asc", limit: 97 } as const;
    const rows: unknown[] = [];
    for await (const trade of client.trades(query)) rows.push(trade);
    assert.deepEqual(rows, await server.getAll("/v1/trades?order=asc&limit=97"));
    assert.ok(rows.length > 500);
    let pages = 0;
    for await (const { meta } of client.trades(query).pages()) {
      pages += 1;
      assert.equal(meta.indexed_block, server.newestBlock);
    }
    assert.equal(pages, Math.ceil(rows.length / 97));
  });

  test("come as one file, which says how many rows it has", async () => {
    const rows = await server.getAll("/v1/matches?order=asc&limit=1000");
    const file = await client.matches({ order: "asc" }).file("ndjson");
    const lines = (await text(file.body)).trimEnd().split("\n");
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      rows,
    );
    assert.equal(file.rowCount, rows.length);
    assert.equal(file.check.rows, rows.length);
    assert.equal(file.nextCursor, null);
  });

  test("are not requested after a loop is left", async () => {
    const before = answered.length;
    for await (const trade of client.trades({ limit: 10 })) {
      assert.ok(trade.seq > 0);
      break;
    }
    assert.equal(answered.length - before, 1);
  });

  test("of candles have their resolution and the time of the first candle", async () => {
    const [market] = (await client.markets({ sort: "volume", status: "all" }).page()).data;
    const tokenId = market?.tokens.at(0)?.token_id ?? "";
    const { data, meta } = await client.candles(tokenId, { resolution: "1m" }).page();
    assert.ok(data.length > 0);
    assert.equal(meta.resolution, "1m");
    assert.ok(meta.first_candle_ms !== null);
  });
});
