/** Lists requested as files, with more rows than the row cap. */
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { DataServer, type Row } from "../support/open-data-server.ts";

function parseNdjson(text: string): Row[] {
  return text === ""
    ? []
    : text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Row);
}

/** Asserts that the files together have every row, and that each but the last has a cursor for the next. */
async function assertWhole(from: DataServer, path: string, rowCap: number): Promise<void> {
  // Without `start`, candles begin with the newest range, in either order.
  const walksBack = path.includes("candles") && !path.includes("start");
  const rows = await from.getAll(`${path}&limit=100${walksBack ? "&start=0" : ""}`);
  const parts: Row[][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const suffix: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { status, headers, text } = await from.get(`${path}&format=ndjson${suffix}`);
    assert.equal(status, 200, text);
    const part = parseNdjson(text);
    assert(part.length <= rowCap);
    assert.equal(headers.get("x-row-cap"), String(rowCap));
    cursor = headers.get("x-next-cursor");
    assert.equal(headers.get("x-rows-truncated"), String(cursor !== null));
    parts.push(part);
  }
  assert.deepEqual(walksBack ? parts.toReversed().flat() : parts.flat(), rows);
  assert(parts.length > 1);
}

/** Runs each suite on its own server, one after the other, because a process has only one engine. */
function testCap(rowCap: number, paths: readonly string[]): void {
  suite(`with a row cap of ${rowCap}`, () => {
    let server: DataServer;
    let token = "";
    before(async () => {
      server = await DataServer.open({ exportRowsMax: rowCap });
      const [trade = {}] = (await server.getPage("/v1/trades?limit=1")).data;
      token = String(trade["token_id"]);
    });
    after(() => server.close());

    for (const path of paths) {
      test(`200: ${path}: a file cut at the cap says so and has a cursor for the rest`, async () => {
        await assertWhole(server, path.replace("{token_id}", token), rowCap);
      });
    }
  });
}

testCap(200, [
  "/v1/trades?order=asc",
  "/v1/trades?order=desc",
  "/v1/trades?order=desc&status=finalized",
  "/v1/matches?side=BUY",
]);

testCap(3, [
  "/v1/cancellations?order=asc",
  "/v1/exchange-events?order=desc",
  "/v1/resolutions?order=asc",
  "/v1/resolutions?order=desc",
  "/v1/resolutions?order=desc&status=finalized",
  "/v1/candles/{token_id}?start=0&resolution=1m&fill=previous",
  "/v1/candles/{token_id}?start=0&resolution=1m&order=desc",
  "/v1/candles/{token_id}?resolution=1m&fill=previous",
  "/v1/candles/{token_id}?resolution=1m",
  "/v1/markets?status=all&sort=created_at",
]);
