/** Lists requested as files, compared with the rows of the same lists as JSON. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, suite, test } from "node:test";
import { parseMicros } from "../../src/base/decimal.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader } from "../support/open-test-server.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { type ColumnarFormat, readColumnar } from "../support/read-columnar.ts";

const server = await DataServer.open();
after(() => server.close());

const [trade = {}] = (await server.getPage("/v1/trades?limit=1")).data;
const token = String(trade["token_id"]);
const wallet = `/v1/wallets/${String(trade["maker"])}`;
const market = `/v1/markets/${String(trade["condition_id"])}`;

type File = { readonly headers: Headers; readonly bytes: Uint8Array; readonly text: string };

async function fetchFile(path: string): Promise<File> {
  const { edge } = server;
  edge.clock.advance(100);
  const answer = await fetch(edge.url + path, { headers: { "x-api-key": edge.keys.read } });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  assert.equal(answer.status, 200, text);
  assertEveryHeader(answer.headers);
  return { headers: answer.headers, bytes, text };
}

function parseNdjson(text: string): Row[] {
  return text === ""
    ? []
    : text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Row);
}

const lists = [
  { path: "/v1/markets?sort=created_at", name: "markets", limit: 100 },
  { path: "/v1/markets?include=event&status=open&order=asc", name: "markets", limit: 100 },
  { path: "/v1/events?sort=created_at", name: "events", limit: 50 },
  { path: "/v1/trades?include=market&side=BUY", name: "trades" },
  { path: `/v1/trades/market/${token}?include=market`, name: "trades" },
  { path: "/v1/fills?include=market&side=SELL", name: "fills" },
  { path: "/v1/matches?include=market", name: "matches" },
  { path: "/v1/trades?order=asc", name: "trades" },
  { path: "/v1/trades?side=SELL", name: "trades" },
  { path: "/v1/trades?status=finalized&min_size=100", name: "trades" },
  { path: `/v1/trades/market/${token}?include_complement=true`, name: "trades" },
  { path: `/v1/candles/${token}?start=0&resolution=1m`, name: "candles" },
  { path: `/v1/candles/${token}?start=0&resolution=5m&fill=previous&order=desc`, name: "candles" },
  { path: "/v1/trades?from_block=9000000000", name: "trades" },
  { path: "/v1/fills?side=BUY", name: "fills" },
  { path: "/v1/matches?order=asc", name: "matches" },
  { path: "/v1/cancellations?order=asc", name: "cancellations" },
  { path: "/v1/exchange-events?order=desc", name: "exchange-events" },
  { path: "/v1/resolutions?order=asc", name: "resolutions" },
  { path: "/v1/resolutions?order=desc", name: "resolutions" },
  { path: `${wallet}/positions?status=all&sort=realized_pnl`, name: "positions", limit: 500 },
  { path: `${wallet}/activity?order=asc`, name: "activity" },
  { path: `${wallet}/pnl?resolution=1h`, name: "pnl" },
  { path: `${market}/holders?include_contracts=true`, name: "holders" },
  { path: `${market}/holders?include_pnl=true`, name: "holders", limit: 100, isPage: true },
  { path: `${market}/open-interest?resolution=4h`, name: "open-interest" },
  { path: "/v1/open-interest?resolution=1h&order=desc", name: "open-interest" },
] as const;

for (const { path: list, name, ...size } of lists) {
  suite(list.replaceAll(/\/\w{40,}/g, "/{id}"), async () => {
    const limit = "limit" in size ? size.limit : 1000;
    // A profit for each row makes a file of a page alone.
    const path = "isPage" in size ? `${list}&limit=${limit}` : list;
    const rows =
      "isPage" in size
        ? (await server.getPage(path)).data
        : await server.getAll(`${path}&limit=${limit}`);
    if (!path.includes("9000000000")) assert(rows.length > 0, "there is something to report");

    test("200: ndjson has the rows of all pages, one per line", async () => {
      const { headers, text } = await fetchFile(`${path}&format=ndjson`);
      assert.deepEqual(parseNdjson(text), rows);
      assert.equal(headers.get("content-type"), "application/x-ndjson; charset=utf-8");
      assert.equal(headers.get("content-disposition"), `attachment; filename="${name}.ndjson"`);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(headers.get("x-rows-truncated"), "false");
      assert.equal(headers.get("x-row-cap"), "1000000");
      assert.equal(headers.get("x-next-cursor"), null);
      assert.equal(headers.get("x-row-count"), String(rows.length));
    });

    test("200: csv has a header line and the same values", async () => {
      const { text } = await fetchFile(`${path}&format=csv`);
      const [names = [], ...records] = parseCsv(text);
      const toText = (value: unknown) =>
        value === null || typeof value === "string" ? value : JSON.stringify(value);
      assert.deepEqual(
        records,
        rows.map((row) => names.map((column) => toText(row[column ?? ""]))),
      );
      if (rows[0] !== undefined) assert.deepEqual(names, Object.keys(rows[0]));
    });

    for (const [format, engineFormat] of [
      ["parquet", "Parquet"],
      ["arrow", "ArrowStream"],
    ] as const) {
      test(`200: ${format} holds the same rows in columns of the right types`, async () => {
        const { bytes } = await fetchFile(`${path}&format=${format}`);
        await assertColumnar(engineFormat, bytes, rows);
      });
    }
  });
}

/** Returns a row as columnar formats hold it: lists and objects as JSON text. */
function listsAsText(row: Row): Row {
  const entries = Object.entries(row).map(([name, value]) =>
    typeof value === "object" && value !== null ? [name, JSON.stringify(value)] : [name, value],
  );
  return Object.fromEntries(entries) as Row;
}

const isDecimalType = (type: string | undefined) => type === "Decimal(38, 6)";
const isTimeType = (type: string | undefined) => /^DateTime64\(3(?:, 'UTC')?\)$/.test(type ?? "");

async function assertColumnar(format: ColumnarFormat, bytes: Uint8Array, rows: readonly Row[]) {
  const { columns, rows: read } = await readColumnar(server.store.engine, format, bytes);
  const types = new Map(
    columns.map(([name, type]) => [name, type.replace(/^Nullable\((.*)\)$/, "$1")]),
  );
  const plain = (row: Row): Row =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        if (value === null) return [name, null];
        if (typeof value !== "string") return [name, value];
        if (isDecimalType(types.get(name))) return [name, parseMicros(value)];
        if (!isTimeType(types.get(name))) return [name, value];
        const text = value.replace(" ", "T").replace(/Z?$/, "Z");
        return [name, Date.parse(text)];
      }),
    );
  assert.deepEqual(read.map(plain), rows.map(listsAsText).map(plain));
  for (const [name, type] of types) {
    if (/^(price|size|value_usd|volume|open|close|maker_fee|taker_fee_net)$/.test(name))
      assert(isDecimalType(type), `${name} is ${type}`);
    if (/_(?:raw|id|hash)$/.test(name)) assert.equal(type, "String", name);
  }
  const times = [...types.keys()].filter((column) => types.has(`${column}_ms`));
  for (const time of times) {
    assert.equal(types.get(`${time}_ms`), "Int64");
    assert(isTimeType(types.get(time)), types.get(time));
  }
  if (rows[0] !== undefined) assert.deepEqual([...types.keys()], Object.keys(rows[0]));
}

test("200: a file with a limit is one page, and its cursor works in every format", async () => {
  const path = "/v1/trades?side=BUY&limit=7";
  const page = await server.getPage(path);
  const { headers, text } = await fetchFile(`${path}&format=ndjson`);
  assert.deepEqual(parseNdjson(text), page.data);
  assert.equal(headers.get("x-next-cursor"), page.pagination.next_cursor);
  assert.equal(headers.get("x-rows-truncated"), "false");
  const cursor = headers.get("x-next-cursor");
  const next = await server.getPage(`${path}&cursor=${cursor}`);
  const csv = await fetchFile(`${path}&cursor=${cursor}&format=csv`);
  assert.deepEqual(
    parseCsv(csv.text)
      .slice(1)
      .map(([id]) => id),
    next.data.map((row) => row["id"]),
  );
});

test("200: trailers have the SHA-256 of a file and its rows; HTTP/1.0 has none", async () => {
  const { url, keys } = server.edge;
  for (const format of ["ndjson", "csv", "parquet", "arrow"]) {
    const [response] = (await once(
      get(`${url}/v1/trades?format=${format}`, { headers: { "x-api-key": keys.read } }),
      "response",
    )) as [IncomingMessage];
    const bytes = await buffer(response);
    const sha256 = createHash("sha256").update(bytes).digest("base64");
    assert.equal(response.trailers["content-digest"], `sha-256=:${sha256}:`);
    assert.equal(response.trailers["x-row-count"], response.headers["x-row-count"]);
    assert.equal(response.headers["trailer"], "Content-Digest, X-Row-Count");
  }
  const old = await server.edge.sendRaw(
    `GET /v1/trades?format=csv&limit=1 HTTP/1.0\r\nX-API-Key: ${keys.read}\r\n\r\n`,
  );
  assert.match(old, /^HTTP\/1\.1 200 OK\r\n/);
  assert.doesNotMatch(old, /trailer|sha-256/i);
  assert.match(old, /\r\nx-row-count: 1\r\n/);
});

test("HEAD returns the headers of GET and no rows", async () => {
  const path = "/v1/trades?format=parquet";
  const { headers, text } = await server.edge.request("HEAD", path, {
    key: server.edge.keys.read,
  });
  assert.equal(text, "");
  assert.equal(headers.get("content-type"), "application/vnd.apache.parquet");
  assert(Number(headers.get("x-row-count")) > 0);
  // The length of a file is not known in advance: no length is sent.
  assert.equal(headers.get("content-length"), null);
});

test("400: an unknown format or parameter, a limit above that of a page, and an invalid cursor", async () => {
  const cases = [
    "format=xml",
    "format=csv&limit=1001",
    "format=csv&limt=1",
    "format=csv&cursor=AA",
  ];
  for (const query of cases) {
    const answer = await server.get(`/v1/trades?${query}`);
    assertError(answer, query.includes("cursor") ? "INVALID_CURSOR" : "VALIDATION_ERROR");
    assert.equal(answer.headers.get("content-disposition"), null);
  }
});
