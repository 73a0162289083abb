/** Long responses are compressed for clients that accept gzip, and are otherwise the same. */
import assert from "node:assert/strict";
import { type IncomingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { formatTokenId } from "../../src/base/ids.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";

const server = await DataServer.open({ finalBlocks: 850, unfinalizedBlocks: 40 });
const { edge } = server;
after(() => server.close());

const tokens = [...new Set(server.fills.map(({ tokenId }) => formatTokenId(tokenId)))];
const [newest = ""] = tokens.slice(-1);
const longPaths = [
  "/v1/trades?limit=60",
  `/v1/trades/market/${newest}?include_complement=true`,
  `/v1/price?token_ids=${tokens.slice(0, 40).join(",")}`,
  "/v1/fills?limit=60",
  "/v1/markets",
  "/v1/openapi.json",
];
const shortPaths = [`/v1/price/${newest}`, "/v1/trades?limit=1", "/v1/health", "/v1/nothing"];

type Sent = {
  readonly method?: string;
  readonly accepted?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Returns the response as it is on the wire. `fetch` would decompress it. */
async function ask(path: string, { method = "GET", accepted, headers = {} }: Sent = {}) {
  const coding = accepted === undefined ? {} : { "accept-encoding": accepted };
  const own = { "x-api-key": edge.keys.admin, "x-request-id": "mine", ...coding, ...headers };
  return new Promise<{ status: number; headers: IncomingHttpHeaders; bytes: Buffer }>(
    (resolve, reject) => {
      const requested = request(
        edge.url + path,
        { method, headers: own, agent: false },
        (response) => {
          const { statusCode: status = 0, headers } = response;
          buffer(response).then((bytes) => resolve({ status, headers, bytes }), reject);
        },
      );
      requested.on("error", reject);
      requested.end();
    },
  );
}

/** Returns the headers that are equal in two responses: all but the time and the state of the limit. */
function lasting({ headers }: { headers: IncomingHttpHeaders }): IncomingHttpHeaders {
  const own = ["date", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit"];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name)));
}

test("200: a compressed response equals the plain one, the first time and each time after", async () => {
  for (const path of longPaths) {
    const plain = await ask(path);
    assert.equal(plain.headers["content-encoding"], undefined);
    assert.equal(plain.headers.vary, "Accept-Encoding");
    let first: IncomingHttpHeaders | null = null;
    for (let times = 0; times < 4; times += 1) {
      const packed = await ask(path, { accepted: "br, gzip;q=0.5" });
      assert.equal(packed.headers["content-encoding"], "gzip", path);
      assert.equal(Number(packed.headers["content-length"]), packed.bytes.length);
      assert(packed.bytes.length * 2 < plain.bytes.length, path);
      assert.deepEqual(gunzipSync(packed.bytes), plain.bytes, path);
      first ??= lasting(packed);
      assert.deepEqual(lasting(packed), first, path);
      const { "content-encoding": _, "content-length": length, ...same } = lasting(packed);
      assert.deepEqual({ ...same, "content-length": String(plain.bytes.length) }, lasting(plain));
      assert.equal(Number(length), packed.bytes.length);
      assert.deepEqual((await ask(path)).bytes, plain.bytes, "plain for others meanwhile");
    }
  }
});

test("200: short responses, and those to clients that do not accept gzip, are not compressed", async () => {
  for (const path of shortPaths)
    for (let times = 0; times < 3; times += 1)
      assert.equal((await ask(path, { accepted: "gzip" })).headers["content-encoding"], undefined);
  for (const path of longPaths) {
    for (const accepted of ["identity", "br", "gzip;q=0"]) {
      const { headers, bytes } = await ask(path, { accepted });
      assert.equal(headers["content-encoding"], undefined);
      assert.equal(Number(headers["content-length"]), bytes.length);
    }
  }
});

test("200: simultaneous requests right after a change get the new data, each with its own request id", async () => {
  const path = "/v1/trades?limit=80";
  for (let round = 0; round < 5; round += 1) {
    await server.advance({ unfinalized: server.newestBlock + 2 });
    const answers = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const accepted = index % 3 === 0 ? "identity" : "gzip";
        const id = `one-${index}`;
        const { headers, bytes } = await ask(path, { accepted, headers: { "x-request-id": id } });
        assert.equal(headers["content-encoding"], index % 3 === 0 ? undefined : "gzip");
        const plain = index % 3 === 0 ? bytes : gunzipSync(bytes);
        const { data, meta } = JSON.parse(plain.toString()) as { data: Row[]; meta: Row };
        assert.equal(meta["request_id"], id);
        assert.equal(meta["indexed_block"], server.newestBlock);
        return data;
      }),
    );
    for (const data of answers) assert.deepEqual(data, answers[0]);
  }
});

test("200: HEAD has the length and the encoding of the compressed response", async () => {
  for (const path of longPaths) {
    const { headers } = await ask(path, { accepted: "gzip" });
    const head = await ask(path, { accepted: "gzip", method: "HEAD" });
    assert.deepEqual(lasting(head), lasting({ headers }));
    assert.equal(head.bytes.length, 0);
  }
});

test("304: the tag of a compressed response is valid with and without gzip", async () => {
  const { headers } = await ask("/v1/markets", { accepted: "gzip" });
  const unfinalized = { "if-none-match": String(headers.etag) };
  for (const accepted of ["gzip", "identity"]) {
    const answer = await ask("/v1/markets", { accepted, headers: unfinalized });
    assert.equal(answer.status, 304);
    assert.equal(answer.headers["content-encoding"], undefined);
    assert.equal(answer.headers.etag, headers.etag);
    assert.equal(answer.headers.vary, "Accept-Encoding");
  }
});

test("200: metrics are compressed, in both forms", async () => {
  for (const path of ["/v1/metrics", "/v1/metrics/prometheus"]) {
    const packed = await ask(path, { accepted: "gzip" });
    assert.equal(packed.headers["content-encoding"], "gzip");
    assert.match(gunzipSync(packed.bytes).toString(), /indexer/);
    assert.match((await ask(path)).bytes.toString(), /indexer/);
  }
});

test("200: files are not compressed by the server", async () => {
  for (const format of ["csv", "ndjson", "parquet", "arrow"]) {
    const { status, headers } = await ask(`/v1/trades?format=${format}`, { accepted: "gzip" });
    assert.equal(status, 200);
    assert.equal(headers["content-encoding"], undefined);
  }
});
