/** The server of the Model Context Protocol, by the SDK's own client, over both transports. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, suite, type TestContext, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { cleanUp } from "../support/clean-up.ts";
import { cli } from "../support/cli.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { systemSettings } from "../support/system-settings.ts";

/** Far below what the context of a model holds. */
const answerMax = 60_000;

suite("oddwire mcp", () => {
  let server: DataServer;
  let client: Client;
  let market: Row;
  let tokenId: string;

  before(async () => {
    server = await DataServer.open();
    client = await connectStdio(server.edge.keys.read);
    const { markets } = await call("find_market", { search: "rain" });
    market = (markets as readonly [Row])[0];
    tokenId = (market["tokens"] as [{ token_id: string }])[0].token_id;
  });
  after(async () => {
    await client.close();
    await server.close();
  });

  async function connectStdio(key: string): Promise<Client> {
    const connected = new Client({ name: "test", version: "1" });
    const args = [cli, "mcp", "--url", server.edge.url];
    const env = { ...systemSettings(), ODDWIRE_API_KEY: key };
    const transport = new StdioClientTransport({ command: process.execPath, args, env });
    await connected.connect(transport);
    return connected;
  }

  async function callText(name: string, input: Row, by = client) {
    const { content, isError } = await by.callTool({ name, arguments: input });
    const [{ text }] = content as [{ text: string }];
    assert(text.length < answerMax, `${name}: ${text.length} characters`);
    return { text, isError: isError === true };
  }

  async function call(name: string, input: Row, by = client): Promise<Row> {
    const { text, isError } = await callText(name, input, by);
    assert(!isError, text);
    return JSON.parse(text) as Row;
  }

  test("its tools are described, with their inputs, and none writes", async () => {
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      "find_market get_market get_price get_candles list_trades get_orderbook get_wallet get_resolution get_coverage".split(
        " ",
      ),
    );
    for (const { name, description = "", inputSchema, annotations } of tools) {
      assert(description.length > 40, name);
      assert.equal(annotations?.readOnlyHint, true, name);
      for (const property of Object.values(inputSchema.properties ?? {}))
        assert("description" in property, `${name}: ${JSON.stringify(property)}`);
    }
  });

  test("every answer names up to where it is complete and final", async () => {
    const trade = (await server.getPage("/v1/trades?limit=1")).data[0];
    const inputs = {
      find_market: { search: "rain", limit: 20 },
      get_market: { market: market["id"] },
      get_price: { token: tokenId },
      get_candles: { token: tokenId, resolution: "1m", limit: 200 },
      list_trades: { limit: 100 },
      get_orderbook: { token: tokenId, depth: 50 },
      get_wallet: { wallet: trade?.["maker"], limit: 50 },
      get_resolution: { market: market["id"] },
      get_coverage: {},
    };
    const { meta } = await server.getPage("/v1/trades?limit=1");
    for (const [name, input] of Object.entries(inputs)) {
      const { provenance, ...rest } = await call(name, input);
      assert.equal("next_cursor" in rest, name === "list_trades", `${name} takes a cursor`);
      assert.deepEqual(
        provenance,
        {
          complete_from_block: meta["first_block"],
          complete_to_block: meta["indexed_block"],
          complete_to_seq: meta["indexed_seq"],
          final_to_block: meta["finalized_block"],
          seconds_behind_chain: (provenance as Row)["seconds_behind_chain"],
        },
        name,
      );
    }
  });

  test("answers equal those of the service", async () => {
    const { price, final } = await call("get_price", { token: tokenId });
    const sent = (await server.get(`/v1/price/${tokenId}`)).body["data"] as Row;
    assert.deepEqual(price, sent);
    assert.equal(typeof final, "boolean");
    const first = (await server.getPage(`/v1/trades/market/${tokenId}?order=asc&limit=1`)).data[0];
    const past = await call("get_price", { token: tokenId, at: String(first?.["seq"]) });
    assert.deepEqual((past["price"] as Row)["as_of"], {
      seq: first?.["seq"],
      timestamp: first?.["timestamp"],
      timestamp_ms: first?.["timestamp_ms"],
    });
    const page = await call("list_trades", { token: tokenId, limit: 3 });
    const next = await call("list_trades", {
      token: tokenId,
      limit: 3,
      cursor: page["next_cursor"],
    });
    const listed = (await server.getPage(`/v1/trades?token_id=${tokenId}&limit=6`)).data;
    const ids = [page, next].flatMap(({ trades }) =>
      (trades as readonly Row[]).map(({ id }) => id),
    );
    assert.deepEqual(
      ids,
      listed.map(({ id }) => id),
    );
  });

  test("candles, positions and totals have the fields of the service, bounded by limit", async () => {
    const { candles } = await call("get_candles", { token: tokenId, limit: 2 });
    const path = `/v1/candles/${tokenId}?resolution=1h&limit=2`;
    const fields = "timestamp open high low close volume_shares volume_usd trades closed".split(
      " ",
    );
    assert.deepEqual(
      candles,
      (await server.getPage(path)).data.map((row) =>
        Object.fromEntries(fields.map((name) => [name, row[name]])),
      ),
    );
    const address = (await server.getPage("/v1/trades?limit=1")).data[0]?.["maker"];
    const { wallet, positions } = await call("get_wallet", { wallet: address, limit: 1 });
    const sent = (await server.get(`/v1/wallets/${String(address)}`)).body["data"] as Row;
    const top = (sent["top_markets"] as readonly Row[]).slice(0, 1);
    assert.deepEqual(wallet, { ...sent, top_markets: top });
    assert.equal((positions as readonly Row[]).length, 1);
  });

  test("every tool accepts each kind of id for a market and a token", async () => {
    const { id, tokens } = market as { id: string; tokens: [{ outcome: string }] };
    const named = `${id}:${tokens[0].outcome}`;
    const assertEqual = async (name: string, input: Row, other: Row) => {
      const [one, two] = await Promise.all([call(name, input), call(name, other)]);
      assert.deepEqual({ ...one, provenance: null }, { ...two, provenance: null }, name);
    };
    assert.notDeepEqual((await call("list_trades", { market: id }))["trades"], []);
    for (const name of ["get_market", "get_resolution", "list_trades"])
      for (const other of [tokenId, named, `${id}:0`])
        await assertEqual(name, { market: other }, { market: id });
    for (const name of ["get_price", "get_candles", "list_trades"])
      await assertEqual(name, { token: named }, { token: tokenId });
    const { text, isError } = await callText("list_trades", { market: "no-such-market" });
    assert(isError);
    assert.match(text, /^NOT_FOUND: .*find_market/);
  });

  test("an error names the cause and what to do", async () => {
    const cases: readonly (readonly [string, Row, RegExp])[] = [
      ["get_market", { market: "no-such-market" }, /^NOT_FOUND: .*find_market/],
      ["get_market", { market: "." }, /must be one id. Correct the argument at market/],
      [
        "get_market",
        { market: "1".repeat(300) },
        /<=200 characters. Correct the argument at market/,
      ],
      ["get_market", { market: `${String(market["id"])}:7` }, /^VALIDATION_ERROR: market has an/],
      ["get_wallet", { wallet: `0x${"5".repeat(40)}` }, /never seen\. Check the address/],
      ["get_resolution", { market: ".." }, /must be one id. Correct the argument at market/],
      ["list_trades", { token: "5,6" }, /must be one id. Correct the argument at token/],
      ["list_trades", { token: "5" }, /^NOT_FOUND: .*token/],
      ["list_trades", { token: "rain" }, /^VALIDATION_ERROR: token must be a decimal token id/],
      ["list_trades", { market: "0x12" }, /^VALIDATION_ERROR: market must be a condition id/],
      ["list_trades", { market: `0x${"ab".repeat(32)}` }, /^NOT_FOUND: No market/],
      ["list_trades", { min_value: "much" }, /^VALIDATION_ERROR: min_value must be/],
      ["get_wallet", { wallet: "1".repeat(42) }, /^VALIDATION_ERROR: wallet must be an address/],
      ["get_price", { token: String(market["id"]) }, /^VALIDATION_ERROR: token must be .*Yes/],
      ["get_candles", { token: "rain" }, /^VALIDATION_ERROR: token must be/],
      ["get_orderbook", { token: "rain" }, /^VALIDATION_ERROR: token must be/],
      ["get_market", { market: "\ud800" }, /^NOT_FOUND: /],
      ["get_price", { token: "" }, /token/],
      ["get_price", { token: tokenId, at: "2199-01-01" }, /^VALIDATION_ERROR: at .*Correct/],
      ["list_trades", { cursor: "wrong" }, /^INVALID_CURSOR: /],
      ["get_wallet", { wallet: "0x12" }, /^VALIDATION_ERROR: wallet must be an address/],
      ["get_wallet", { address: "0x12" }, /address is not known here; did you mean wallet\?/],
      ["list_trades", { limit: 101 }, /Correct the argument at limit/],
      ["list_trades", { token_id: tokenId }, /token_id/],
      ["get_candles", { token: tokenId, interval: "1m" }, /interval/],
      ["get_coverage", { market: tokenId }, /market/],
      ["get_candles", { token: tokenId, resolution: "2h" }, /Correct the argument at resolution/],
    ];
    for (const [name, input, expected] of cases) {
      const { text, isError } = await callText(name, input);
      assert(isError, text);
      assert.match(text, expected);
    }
  });

  test("the end of the input ends it, also before a message", async () => {
    for (const input of ["ignore", "pipe"] as const) {
      const args = [cli, "mcp", "--url", server.edge.url, "--key", "any"];
      const child = spawn(process.execPath, args, {
        env: systemSettings(),
        stdio: [input, "inherit", "inherit"],
      });
      child.stdin?.end();
      assert.deepEqual(await once(child, "exit"), [0, null], input);
    }
  });

  test("a wrong key is one clear error", async (t) => {
    const other = await connectStdio("ow_read_wrong");
    cleanUp(t, async () => other.close());
    const { text, isError } = await callText("get_coverage", {}, other);
    assert(isError);
    assert.match(text, /^UNAUTHORIZED: .*key of this server/);
  });

  test("the same over streamable HTTP, for programs on this machine only", async (t) => {
    const url = await serveHttp(t);
    const other = new Client({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await other.connect(transport);
    cleanUp(t, async () => other.close());
    const [here, there] = await Promise.all([
      call("get_market", { market: market["id"] }),
      call("get_market", { market: market["id"] }, other),
    ]);
    assert.deepEqual(there["market"], here["market"]);
    const headers = { Origin: "https://example.com", "Content-Type": "application/json" };
    assert.equal((await fetch(url, { method: "POST", headers, body: "{}" })).status, 403);
    assert.equal((await fetch(url)).status, 405);
    assert.equal((await fetch(new URL("/", url))).status, 404);
    assert.equal((await fetch(url, { method: "POST", body: "not JSON" })).ok, false);
  });

  async function serveHttp(t: TestContext): Promise<string> {
    const child = spawn(
      process.execPath,
      [cli, "mcp", "--http", "0", "--url", server.edge.url, "--key", server.edge.keys.read],
      { env: systemSettings(), stdio: ["ignore", "pipe", "inherit"] },
    );
    cleanUp(t, async () => {
      child.kill("SIGTERM");
      const [code] = (await once(child, "exit")) as [number];
      assert.equal(code, 0);
    });
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    return (JSON.parse(line) as { listening: string }).listening;
  }
});
