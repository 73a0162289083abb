/** Lists as files that are longer than the row cap. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DataServer, type Row } from "../support/open-data-server.ts";

const rowCap = 700;
const server = await DataServer.open({ exportRowsMax: rowCap });
after(() => server.close());

const [trade = {}] = (await server.getPage("/v1/trades?limit=1")).data;
const token = String(trade["token_id"]);

function parseNdjson(text: string): Row[] {
  return text === ""
    ? []
    : text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Row);
}

for (const path of [
  "/v1/trades?order=asc",
  "/v1/trades?order=desc",
  "/v1/trades?order=desc&status=finalized",
  `/v1/candles/${token}?start=0&resolution=1m&fill=previous`,
  `/v1/candles/${token}?start=0&resolution=1m&order=desc`,
  `/v1/candles/${token}?resolution=1m&fill=previous`,
  `/v1/candles/${token}?resolution=1m`,
]) {
  test(`200: ${path.replace(token, "{token_id}")}: a cap that is hit is told, and where to go on`, async () => {
    // Candles without a time begin with the newest stretch, whatever the order within it.
    const walksBack = path.includes("candles") && !path.includes("start");
    const rows = await server.getAll(`${path}&limit=1000${walksBack ? "&start=0" : ""}`);
    const parts: Row[][] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const suffix: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { status, headers, text } = await server.get(`${path}&format=ndjson${suffix}`);
      assert.equal(status, 200, text);
      const part = parseNdjson(text);
      assert(part.length <= rowCap);
      assert.equal(headers.get("x-row-cap"), String(rowCap));
      cursor = headers.get("x-next-cursor");
      assert.equal(headers.get("x-rows-truncated"), String(cursor !== null));
      parts.push(part);
    }
    assert.deepEqual(walksBack ? parts.toReversed().flat() : parts.flat(), rows);
    if (rows.length > rowCap) assert(parts.length > 1);
  });
}
