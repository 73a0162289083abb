/** The responses of the running server, compared with its own OpenAPI document in both directions. */
import assert from "node:assert/strict";
import { readFile, rename } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { after, suite, test } from "node:test";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { webLimits } from "../../src/base/config/limits.ts";
import { ApiContract, type Endpoint } from "../support/api-contract.ts";
import { DataServer } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader, type TestAnswer } from "../support/open-test-server.ts";
import { sampleLakeFile } from "../support/sample-lake.ts";

const server = await DataServer.open({ trustedProxies: ["127.0.0.1"] });
after(() => server.close());

const { edge } = server;
const contract = await ApiContract.read(server);
const [trade = {}] = (await server.getPage("/v1/trades?limit=1")).data;
const [event = {}] = (await server.getPage("/v1/events?limit=1")).data;

type Sent = {
  readonly query?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Returns a new client IP for each request, so that limits and blocks of one do not affect another. */
let clients = 0;
function anyClient(): string {
  clients += 1;
  return `198.18.${clients >> 8}.${clients & 255}`;
}

const floodedClient = anyClient();
const blockedClient = anyClient();

/** Returns the path parameters of something that exists. */
async function goodParams({ method, path }: Endpoint): Promise<Record<string, string>> {
  if (path.startsWith("/v1/keys/")) {
    const name = `for ${method} ${path} ${anyClient()}`;
    const input = { name, scope: "read", expiresAtMs: null, allowedIps: [] } as const;
    return { id: (await edge.access.keys.create(input)).key.id };
  }
  if (path.startsWith("/v1/ip-blocks/")) {
    const ip = anyClient();
    blockIp(ip);
    return { ip };
  }
  const { token_id, condition_id, maker_order_hash, tx_hash, maker } = trade;
  return {
    id: String(path.startsWith("/v1/events/") ? event["id"] : condition_id),
    tx_hash: String(tx_hash),
    address: String(maker),
    ...sampleLakeFile,
    token_id: String(token_id),
    order_hash: String(maker_order_hash),
  };
}

function blockIp(bucket: string): void {
  const blockedAtMs = edge.clock.nowMs();
  const blockedUntilMs = blockedAtMs + 60_000;
  edge.access.ipBlocks.put({ bucket, reason: "abuse", offenses: 1, blockedAtMs, blockedUntilMs });
}

async function send(endpoint: Endpoint, sent: Sent): Promise<TestAnswer> {
  const { method, path, parameters, security, requestBody } = endpoint;
  const params = { ...(await goodParams(endpoint)), ...sent.params };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
  const required = parameters.filter((one) => one.in === "query" && one.required);
  const needed = required.map(({ name }) => `${name}=${String(trade["token_id"])}`);
  const query = [...needed, ...(sent.query === undefined ? [] : [sent.query])].join("&");
  const { key = security.length === 0 ? null : edge.keys.admin } = sent;
  const json = requestBody === undefined ? {} : { "content-type": "application/json" };
  const target = query === "" ? filled : `${filled}?${query}`;
  const headers = { "x-forwarded-for": anyClient(), ...json, ...sent.headers };
  if ("101" in endpoint.responses) {
    return askForUpgrade(target, { ...headers, ...(key === null ? {} : { "x-api-key": key }) });
  }
  return edge.request(method, target, {
    headers,
    ...(key === null ? {} : { key }),
    ...getBody(endpoint, sent),
  });
}

/** Sends the handshake of a WebSocket and ends the connection after the response. */
async function askForUpgrade(target: string, sent: Record<string, string>): Promise<TestAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<TestAnswer>();
  const headers = {
    ...sent,
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": Buffer.alloc(16).toString("base64"),
  };
  const getAnswer = (response: IncomingMessage, body: string): TestAnswer => ({
    status: response.statusCode ?? 0,
    headers: new Headers(response.headers as Record<string, string>),
    text: body,
    body: body === "" ? {} : (JSON.parse(body) as TestAnswer["body"]),
  });
  const requested = request(edge.url + target, { headers, agent: false });
  requested.on("upgrade", (response, socket) => {
    socket.destroy();
    resolve(getAnswer(response, ""));
  });
  requested.on("response", (response) => {
    text(response).then((body) => resolve(getAnswer(response, body)), reject);
  });
  requested.on("error", reject);
  requested.end();
  return promise;
}

function getBody({ path, requestBody }: Endpoint, { body }: Sent): { body?: string } {
  if (requestBody === undefined) return {};
  if (body !== undefined) return { body };
  return { body: path === "/v1/keys" ? JSON.stringify({ name: `made by ${anyClient()}` }) : "{}" };
}

/** A request for each error code that provokes it at every endpoint that has the code. */
const provocations: Readonly<Record<string, Sent>> = {
  VALIDATION_ERROR: { query: "no_such_parameter=1" },
  INVALID_CURSOR: { query: "cursor=AAAA" },
  UNAUTHORIZED: { key: "ow_read_nobody" },
  FORBIDDEN: { key: edge.keys.read },
  IP_BLOCKED: { headers: { "x-forwarded-for": blockedClient }, key: edge.keys.read },
  NOT_FOUND: {
    params: {
      id: `0x${"ee".repeat(32)}`,
      token_id: "1",
      order_hash: `0x${"ee".repeat(32)}`,
      tx_hash: `0x${"ee".repeat(32)}`,
      address: `0x${"ee".repeat(20)}`,
      ip: "192.0.2.1",
      part: "part-9.parquet",
    },
  },
  CONFLICT: { body: JSON.stringify({ name: "test admin" }) },
  PAYLOAD_TOO_LARGE: { body: `"${"x".repeat(20_000)}"` },
  UNSUPPORTED_MEDIA_TYPE: { headers: { "content-type": "text/plain" }, body: "x" },
  RANGE_NOT_SATISFIABLE: { headers: { range: "bytes=1000000-" } },
  RATE_LIMITED: { key: null, headers: { "x-forwarded-for": floodedClient } },
};

/** Whether an endpoint is not found only while there is no lake: its path has no parameter. */
function isOfWholeLake({ path }: Endpoint): boolean {
  return path.startsWith("/v1/lake") && !path.includes("{");
}

/** Codes that only a failure of the service causes. They have the shape of the others. */
const ours = ["INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];

suite("the document", () => {
  test("describes every endpoint that is served, and no other", () => {
    const served = server.routes.map(({ method, path }) => `${method} ${path}`);
    const reported = contract.endpoints.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(new Set(reported), new Set(served));
    assert(reported.length > 25 && new Set(reported).size === reported.length);
  });

  test("names each operation once, has each path parameter, and has no internal keyword", () => {
    const operations = Object.values(contract.document.paths).flatMap((one) => Object.values(one));
    const ids = operations.map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const { path, parameters } of contract.endpoints) {
      const inPath = parameters.filter((one) => one.in === "path").map(({ name }) => `{${name}}`);
      assert.deepEqual(inPath, path.match(/\{\w+\}/g) ?? []);
    }
    assert.doesNotMatch(JSON.stringify(contract.document), /"~|\[object|undefined/);
  });
});

test("each operation with a JSON response has a sample that its schema allows", () => {
  for (const endpoint of contract.endpoints) {
    const success = endpoint.responses[200] ?? endpoint.responses[201];
    const media = success?.content["application/json"];
    if (media !== undefined && endpoint.path !== "/v1/openapi.json")
      contract.assertSample(endpoint, media);
  }
});

test("429 after a flood has the error shape", async () => {
  const headers = { "x-forwarded-for": floodedClient };
  for (let sent = 0; sent < 100; sent += 1) await edge.request("GET", "/v1/health", { headers });
  assertError(await edge.request("GET", "/v1/health", { headers }), "RATE_LIMITED");
  const { upgradesPerMinute } = webLimits;
  const nowMs = edge.clock.monotonicMs();
  for (let sent = 0; sent < upgradesPerMinute; sent += 1)
    edge.access.ipWindow.acquire(`upgrade ${floodedClient}`, upgradesPerMinute, nowMs);
  blockIp(blockedClient);
});

for (const endpoint of contract.endpoints) {
  suite(`${endpoint.method} ${endpoint.path}`, () => {
    const statuses = Object.keys(endpoint.responses).map(Number);

    test("succeeds as documented", async () => {
      const answer = await send(endpoint, {});
      assert(answer.status < 300, answer.text);
      contract.assertReported(endpoint, answer);
    });

    for (const code of statuses.flatMap((status) => contract.toCodes(endpoint, status))) {
      if (ours.includes(code)) continue;
      test(`is refused with ${code} as documented`, async () => {
        const isHidden = code === "NOT_FOUND" && isOfWholeLake(endpoint);
        if (isHidden) await rename(server.lakeDir, `${server.lakeDir}-hidden`);
        const answer = await send(endpoint, provocations[code] ?? {});
        if (isHidden) await rename(`${server.lakeDir}-hidden`, server.lakeDir);
        assertError(answer, code as Parameters<typeof assertError>[1]);
        contract.assertReported(endpoint, answer);
      });
    }

    test("has no other code", async () => {
      const codes = statuses.flatMap((status) => contract.toCodes(endpoint, status));
      for (const [code, sent] of Object.entries(provocations)) {
        const answer = codes.includes(code) ? null : await send(endpoint, sent);
        if (answer !== null) contract.assertReported(endpoint, answer);
      }
    });
  });
}

suite("lists as files", () => {
  const bulk = contract.endpoints.filter(({ parameters }) =>
    parameters.some(({ name }) => name === "format"),
  );

  test("are available for markets, events and the chain", () => {
    assert.deepEqual(
      bulk.map(({ path }) => path),
      [
        "/v1/markets",
        "/v1/markets/{id}/resolution",
        "/v1/markets/{id}/holders",
        "/v1/markets/{id}/open-interest",
        "/v1/open-interest",
        "/v1/events",
        "/v1/tags",
        "/v1/categories",
        "/v1/trades",
        "/v1/trades/market/{token_id}",
        "/v1/fills",
        "/v1/matches",
        "/v1/cancellations",
        "/v1/exchange-events",
        "/v1/resolutions",
        "/v1/wallets/{address}/positions",
        "/v1/wallets/{address}/activity",
        "/v1/wallets/{address}/pnl",
        "/v1/candles/{token_id}",
        "/v1/stats",
      ],
    );
  });

  for (const endpoint of bulk) {
    const { enum: formats = [] } =
      endpoint.parameters.find(({ name }) => name === "format")?.schema ?? {};
    for (const format of formats) {
      test(`${endpoint.path} as ${format} conforms`, async () => {
        const answer = await send(endpoint, { query: `format=${format}` });
        assert.equal(answer.status, 200, answer.text);
        contract.assertReported(endpoint, answer);
      });
    }
  }
});

test("503 of the readiness check has the shape of its 200", async () => {
  server.isReady = false;
  const endpoint = contract.endpoints.find(({ path }) => path === "/v1/ready");
  assert(endpoint !== undefined);
  const answer = await send(endpoint, {});
  assert.equal(answer.status, 503);
  contract.assertReported(endpoint, answer);
});

test("a request for the stream without an upgrade is refused as documented", async () => {
  const endpoint = contract.endpoints.find(({ path }) => path === "/v1/stream");
  assert(endpoint !== undefined);
  const headers = { "x-forwarded-for": anyClient() };
  const answer = await edge.request("GET", "/v1/stream", { headers });
  assertError(answer, "VALIDATION_ERROR");
  contract.assertReported(endpoint, answer);
});

test("503 of an overloaded store conforms", async () => {
  const answered = new AbortController();
  // Each loop queries again after a result or a refusal, so that a free slot is taken immediately.
  const keepAsking = async (): Promise<void> => {
    while (!answered.signal.aborted)
      await server.store.engine.query("SELECT sleep(0.01)").catch(() => yieldToEventLoop());
  };
  const busy = Array.from({ length: 300 }, keepAsking);
  const endpoint = contract.endpoints.find(({ path }) => path === "/v1/fills");
  assert(endpoint !== undefined);
  // Rows in the head buffer need no query, so ask for final ones.
  const answer = await send(endpoint, { query: "status=finalized" });
  answered.abort();
  assertError(answer, "SERVICE_UNAVAILABLE");
  assert.equal(answer.headers.get("retry-after"), "1");
  contract.assertReported(endpoint, answer);
  await Promise.all(busy);
});

test("401: every endpoint that needs a key, without one and with a bad one", async () => {
  const keyed = contract.endpoints.filter(
    ({ security, responses }) => security.length > 0 && !("101" in responses),
  );
  assert(keyed.length > 20);
  for (const endpoint of keyed)
    for (const key of [null, "ow_read_nobody"])
      assertError(await send(endpoint, { key }), "UNAUTHORIZED");
});

test("405 and 404, which are not per endpoint, have the error shape", async () => {
  for (const path of Object.keys(contract.document.paths)) {
    const filled = path.replaceAll(/\{\w+\}/g, "1");
    const headers = { "x-forwarded-for": anyClient() };
    const reported = contract.endpoints
      .filter((one) => one.path === path)
      .map(({ method }) => method);
    const allowed = reported.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      if (reported.includes(method)) continue;
      const answer = await edge.request(method, filled, { headers });
      assertError(answer, "METHOD_NOT_ALLOWED");
      assert.equal(answer.headers.get("allow"), [...allowed, "OPTIONS"].join(", "));
    }
    assertError(await edge.request("GET", `${filled}/w/x/y/z`, { headers }), "NOT_FOUND");
  }
});

test("HEAD of every GET endpoint has every header and no body", async () => {
  const pages = contract.endpoints.filter(({ responses }) => !("101" in responses));
  for (const endpoint of pages.filter(({ method }) => method === "GET")) {
    const answer = await send({ ...endpoint, method: "HEAD" }, {});
    assert.equal(answer.status, endpoint.path === "/v1/ready" ? 503 : 200, endpoint.path);
    assert.equal(answer.text, "");
    assertEveryHeader(answer.headers);
  }
});

test("the table of Polymarket's fields names only fields and paths that exist on both sides", async () => {
  const table = await readFile(new URL("../../docs/polymarket-fields.md", import.meta.url), "utf8");
  const recorded = JSON.parse(
    await readFile(new URL("../fixtures/polymarket-fields.json", import.meta.url), "utf8"),
  ) as Readonly<Record<string, readonly string[]>>;
  const theirs = new Set(Object.values(recorded).flat());
  const paths = contract.endpoints.map(({ path }) => path);
  const ours = new Set([
    ...[...JSON.stringify(contract.document).matchAll(/"(\w+)":/g)].map(([, name]) => name),
    ...contract.endpoints.flatMap(({ parameters }) => parameters.map(({ name }) => name)),
  ]);
  const rows = [...table.matchAll(/^\| (`.*) \| (.*) \|$/gm)];
  assert(rows.length > 30);
  for (const [line, left = "", right = ""] of rows) {
    for (const name of toNames(left)) {
      // Recordings have responses, not requests.
      const isKnown = name.startsWith("/") || theirs.has(name) || unrecorded.has(name);
      assert(isKnown, `Polymarket has no ${name}: ${line}`);
    }
    for (const name of toNames(right.startsWith("the same names") ? left : right)) {
      const [path = "", query = ""] = name.split("?");
      const isKnown = name.startsWith("/")
        ? paths.some((one) => one.endsWith(path))
        : ours.has(name) || /^(open|resolved|market)$/.test(name);
      assert(isKnown, `Oddwire has no ${name}: ${line}`);
      for (const parameter of query.split("&").map((one) => one.replace(/=.*/, "")))
        assert(parameter === "" || ours.has(parameter), `no parameter ${parameter}: ${line}`);
    }
  }
});

/** Parameters of Polymarket's requests, and fields of its Data API v2 that no recording has. */
const unrecorded: ReadonlySet<string> = new Set([
  ..."condition_ids offset order ascending q user SELL filterType CASH filterAmount".split(" "),
  ..."eventId usdcSize".split(" "),
]);

/** Returns the fields, parameters and paths of a cell: `tokens[].price` has two, and a path keeps its query. */
function toNames(cell: string): string[] {
  const texts = [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
  return texts
    .flatMap((text) => (text.startsWith("/") ? [text] : text.split(/[^\w]+/)))
    .filter((name) => name !== "");
}
