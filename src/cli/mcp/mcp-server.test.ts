/** Answers that a recorded chain does not have: texts of any length, and a result that is not final. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Connection } from "../../../clients/typescript/src/connection.ts";
import { cleanUp } from "../../../test/support/clean-up.ts";
import { createMcpServer } from "./mcp-server.ts";

const meta = {
  first_block: 1,
  indexed_block: 9,
  indexed_seq: 9_999_999,
  finalized_block: 7,
  lag_seconds: 0,
};

/** Calls a tool of a server over a service that answers requests with data by their path. */
async function call(t: TestContext, name: string, data: Readonly<Record<string, unknown>>) {
  const answer = ({ pathname, search }: URL) => ({ data: data[`${pathname}${search}`], meta });
  return JSON.parse(await callForText(t, name, answer)) as Readonly<Record<string, unknown>>;
}

const inputs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  find_market: { search: "x" },
  get_market: { market: "5" },
  get_price: { token: "5" },
  get_candles: { token: "5" },
  get_orderbook: { token: "5" },
  get_wallet: { wallet: `0x${"5".repeat(40)}` },
  get_resolution: { market: "5" },
  list_trades: { token: "5", market: "5" },
};

/** Calls a tool of a server over a service that answers requests by their URL, and those without data with 404. */
async function callForText(
  t: TestContext,
  tool: string | { readonly name: string; readonly arguments: Readonly<Record<string, string>> },
  answer: (url: URL) => unknown,
) {
  const fetch = async (url: URL) => {
    const sent = answer(url) as { data?: unknown };
    const error = { code: "NOT_FOUND", message: "It is not there" };
    return sent.data === undefined
      ? Response.json({ error }, { status: 404 })
      : Response.json(sent);
  };
  const server = createMcpServer(new Connection({ url: "http://service.test", fetch }), "1");
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  cleanUp(t, async () => client.close());
  const { content } = await client.callTool(
    typeof tool === "string" ? { name: tool, arguments: inputs[tool] ?? {} } : tool,
  );
  const [{ text }] = content as [{ text: string }];
  return text;
}

test("untrusted texts are truncated everywhere and stay well-formed", async (t) => {
  const long = "\u{1f4a5}".repeat(40_000);
  const path = "/v1/trades?limit=20&token_id=5&condition_id=0xab&include=market";
  const data = {
    "/v1/markets/5": { id: "0xab" },
    [path]: [{ question: `x${long}`, outcome: long }],
  };
  const { trades } = await call(t, "list_trades", data);
  const [{ question, outcome }] = trades as [{ question: string; outcome: string }];
  assert(question.length < 700 && outcome.length < 700);
  assert(question.isWellFormed() && question.endsWith("..."));
});

test("the price after a result is final when the result is, not when the last trade is", async (t) => {
  const settled = { price: "1", price_source: "settlement", last_trade: { seq: 3_000_000 } };
  const answers = (seq: number) => ({
    "/v1/price/5": settled,
    "/v1/price/5?at=9999999": { ...settled, as_of: { seq } },
  });
  assert.equal((await call(t, "get_price", answers(8_000_000)))["final"], false);
  assert.equal((await call(t, "get_price", answers(7_000_001)))["final"], true);
  const traded = { "/v1/price/5": { ...settled, price_source: "last_trade" } };
  assert.equal((await call(t, "get_price", traded))["final"], true);
});

test("an incomplete answer states the reason", async (t) => {
  const token = { price: null, as_of: null };
  const ended = { id: "0xab", resolution: null, end_date: "2020-01-01T00:00:00Z" };
  const resolved = { ...ended, resolution: { seq: 5 }, resolved_at: "2020-01-02T00:00:00Z" };
  const wallet = `/v1/wallets/${inputs["get_wallet"]?.["wallet"]}`;
  const book = { bids: [], asks: [] };
  const cases: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
    ["find_market", { "/v1/markets": [] }, /No market has all these words/],
    ["get_market", { "/v1/markets/5": ended }, /ended at 2020-01-01.*no result .* block 9/],
    ["get_market", { "/v1/markets/5": resolved }, /resolved at 2020-01-02/],
    ["get_resolution", { "/v1/markets/5": ended, "/v1/markets/5/resolution": [] }, /no result/],
    ["get_price", { "/v1/price/5": token }, /set a price up to then, from block 1/],
    ["get_price", { "/v1/price/5": { price: null } }, /set a price yet/],
    ["get_candles", { "/v1/candles/5": [] }, /not traded in this time/],
    [
      "get_orderbook",
      { "/v1/orderbook/5": book, "/v1/markets/5": resolved },
      /no orders.*resolved/,
    ],
    ["get_orderbook", { "/v1/orderbook/5": undefined, "/v1/markets/5": resolved }, /resolved at/],
    ["get_wallet", { [wallet]: { top_markets: [] }, [`${wallet}/positions`]: [] }, /holds nothing/],
    [
      "list_trades",
      { "/v1/markets/5": ended, "/v1/price/5": token, "/v1/trades": [] },
      /No trade matches all these filters/,
    ],
  ];
  for (const [name, data, expected] of cases) {
    const answer = ({ pathname }: URL) => ({ data: data[pathname], meta });
    const { note } = JSON.parse(await callForText(t, name, answer)) as { note: string };
    assert.match(note, expected, name);
  }
});

test("an empty list of trades says if the token is of another market or the wallet has none", async (t) => {
  const paths = {
    "/v1/price/5": {},
    "/v1/markets/5": { id: "0xab" },
    "/v1/markets/6": { id: "0xcd" },
  };
  const answer = ({ pathname, searchParams }: URL) => {
    const isOfWallet = searchParams.size === 2 && searchParams.has("wallet");
    const data: Readonly<Record<string, unknown>> = {
      ...paths,
      "/v1/trades": isOfWallet ? [{}] : [],
    };
    return { data: data[pathname], meta };
  };
  const wallet = `0x${"5".repeat(40)}`;
  const read = async (input: Readonly<Record<string, string>>, by = answer) =>
    (
      JSON.parse(await callForText(t, { name: "list_trades", arguments: input }, by)) as {
        note: string;
      }
    ).note;
  assert.equal(await read({ token: "5", market: "6" }), "The token is of another market, 0xab.");
  assert.match(await read({ token: "5", market: "5", wallet }), /^No trade matches/);
  const none = () => ({ data: [], meta });
  assert.equal(await read({ wallet }, none), "This wallet has no indexed trade.");
});

test("every tool warns about a lagging service and about a start before the first block", async (t) => {
  const row = {
    tokens: [],
    resolution: null,
    end_date: null,
    top_markets: [],
    bids: [{}],
    asks: [],
  };
  const rows = /candles|trades|positions|resolution|markets$/;
  for (const name of [...Object.keys(inputs), "get_coverage"]) {
    for (const [changed, expected] of [
      [{ lag_seconds: 61 }, /^The service is 61 s behind the chain/],
      [{ lag_seconds: null }, /unknown/],
      [{ indexed_block: null, lag_seconds: null }, /^Nothing is indexed yet/],
      [{ truncated_at_start: true }, /starts before block 1, /],
      [{}, /^undefined$/],
    ] as const) {
      const answer = ({ pathname }: URL) => ({
        data: rows.test(pathname) ? [row] : { ...row, price: "1", seq: 5 },
        meta: { ...meta, ...changed },
      });
      const { note } = JSON.parse(await callForText(t, name, answer)) as { note?: string };
      assert.match(String(note), expected, name);
    }
  }
});

test("an answer of another server is an error that says so", async (t) => {
  const ofRows = ["find_market", "list_trades", "get_candles", "get_coverage"];
  for (const name of [...ofRows, "get_market", "get_price", "get_orderbook"]) {
    const answer = { data: ofRows.includes(name) ? {} : [], meta };
    assert.match(await callForText(t, name, () => answer), /^NOT_OURS: /, name);
  }
});
