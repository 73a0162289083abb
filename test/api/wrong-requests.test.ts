/** Requests that people write by mistake: the answer names what is wrong, what is allowed, and what was probably meant. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DataServer } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader } from "../support/open-test-server.ts";

const server = await DataServer.open({ finalBlocks: 2, unfinalizedBlocks: 0 });
after(() => server.close());

const cases: readonly (readonly [path: string, ...parts: readonly string[]])[] = [
  ["/v1/markets?q=election", "q", "did you mean search?"],
  ["/v1/markets?limit=1000", "limit", "from 1 to 100", 'got "1000"'],
  ["/v1/markets?status=opn", "status", "open, resolved, all", 'got "opn"', "did you mean open?"],
  ["/v1/markets?status=closed", "status", 'got "closed"', "did you mean resolved?"],
  ["/v1/markets?sort=volume24h", "sort", 'got "volume24h"', "did you mean volume_24h?"],
  ["/v1/markets?active=1", "active", "true or false", 'got "1"'],
  ["/v1/markets?min_volume=1e6", "min_volume", "decimal", 'got "1e6"'],
  ["/v1/markets?format=xlsx", "format", "csv", "parquet", 'got "xlsx"'],
  ["/v1/trades?from=2026-01-01", "from", "did you mean start?"],
  ["/v1/trades?until=2026-01-01", "until", "did you mean end?"],
  ["/v1/trades?start=2026-01", "start", "RFC 3339", 'got "2026-01"'],
  ["/v1/trades?start=20&end=10", "end", "must be after start"],
  ["/v1/trades?side=buy", "side", "BUY, SELL", 'got "buy"', "did you mean BUY?"],
  ["/v1/trades?user=0x1", "user", "did you mean wallet?"],
  ["/v1/trades?wallet=vitalik.eth", "wallet", "40 hex digits", 'got "vitalik.eth"'],
  ["/v1/trades?market=0x1", "market", "did you mean condition_id?"],
  ["/v1/trades?condition_id=0x12", "condition_id", "hex digits", 'got "0x12"'],
  ["/v1/markets?ascending=true", "ascending", "did you mean order?"],
  ["/v1/trades?page=2", "page", "did you mean cursor?"],
  ["/v1/trades?per_page=50", "per_page", "did you mean limit?"],
  ["/v1/trades?limit=5&limit=6", "limit", "is given more than once"],
  ["/v1/trades?min_valeu=1", "min_valeu", "did you mean min_value?"],
  ["/v1/trades?order=ascending", "order", "desc, asc", 'got "ascending"'],
  ["/v1/price", "token_ids", "is required", "decimal token id"],
  ["/v1/price/0xabc", "token_id", "decimal token id", 'got "0xabc"'],
  [`/v1/price?token_ids=${"7".repeat(70)},me`, "token_ids", "decimal token id", 'got "me"'],
  ["/v1/trades?start=2026-01-01T00:00:00+02:00", "start", 'got "2026-01-01T00:00:00 02:00"', "%2B"],
  ["/v1/candles/1?interval=1h", "interval", "did you mean resolution?"],
  ["/v1/candles/1?resolution=1H", "resolution", 'got "1H"', "did you mean 1h?"],
  ["/v1/candles/1?resolution=60min", "resolution", "did you mean 1h?"],
  ["/v1/candles/1?resolution=24h", "resolution", "did you mean 1d?"],
];

for (const [path, parameter, ...parts] of cases) {
  test(`400: ${path}`, async () => {
    const { status, body } = await server.get(path);
    assert.equal(status, 400);
    const { code, message, details } = body["error"] as {
      code: string;
      message: string;
      details: readonly { parameter: string; issue: string }[];
    };
    assert.equal(code, "VALIDATION_ERROR");
    assert.equal(details[0]?.parameter, parameter);
    assert.ok(message.startsWith(`${parameter} `), message);
    for (const part of parts) assert.ok(message.includes(part), `${message} lacks ${part}`);
  });
}

test("405: the message names the methods of the path", async () => {
  const { edge } = server;
  const { body } = await edge.request("DELETE", "/v1/trades", { key: edge.keys.read });
  const { message } = body["error"] as { message: string };
  assert.equal(message, "DELETE is not possible here, only GET, HEAD, OPTIONS");
});

for (const resolution of ["1w", "1M", "2h", "10m", "1y"]) {
  test(`400: no other time is suggested for ${resolution}`, async () => {
    const { body } = await server.get(`/v1/candles/1?resolution=${resolution}`);
    const { message } = body["error"] as { message: string };
    const expected = "resolution must be one of 1m, 5m, 15m, 1h, 4h, 1d";
    assert.equal(message, `${expected}; got "${resolution}"`);
  });
}

const meantPaths: readonly (readonly [path: string, meant: string])[] = [
  ["/v1/market", "/v1/markets"],
  ["/v1/trade", "/v1/trades"],
  ["/api/v1/trade/1", "/v1/trades"],
  ["/v1/orderbooks/1", "/v1/orderbook/{token_id}"],
  ["/v1/tx/0x12", "/v1/transactions/{tx_hash}"],
  // The first word is right, so nothing else is meant.
  ["/v1/trades/nonsense", "/v1/trades"],
  ["/v1/resolutions/nonsense", "/v1/resolutions"],
  // Paths of Polymarket and of other data services.
  ["/midpoint?token_id=1", "/v1/price/{token_id} (mid)"],
  ["/v1/midpoint", "/v1/price/{token_id} (mid)"],
  ["/prices-history?market=1&interval=1d", "/v1/candles/{token_id}"],
  ["/v1/prices-history", "/v1/candles/{token_id}"],
  ["/book?token_id=1", "/v1/orderbook/{token_id}"],
  ["/v1/book/1", "/v1/orderbook/{token_id}"],
  ["/positions?user=0x1", "/v1/wallets/{address}/positions"],
  ["/v1/wallets/0x12/trades", "/v1/trades?wallet="],
  ["/v1/markets/0x12/trades", "/v1/trades?condition_id="],
  ["/v1/markets/slug/who-wins", "/v1/markets/{id}"],
  ["/public-search?q=1", "/v1/markets?search="],
  ["/healthz", "/v1/health"],
  ["/v1/leaderboard", "/v1/markets/{id}/holders"],
  ["/v1/users/0x12/trades", "/v1/trades?wallet="],
  ["/v1/profile/0x12", "/v1/wallets/{address}"],
  ["/v1/tokens/12", "/v1/markets/{id}"],
  ["/series", "/v1/events"],
  ["/trade-api/v2/markets/WHO-WINS/orderbook", "/v1/orderbook/{token_id}"],
  ["/trade-api/v2/series/KX-1/markets/KX-2/candlesticks", "/v1/candles/{token_id}"],
  ["/polymarket/market-price/12", "/v1/price/{token_id}"],
  ["/v0/bets", "/v1/trades"],
  ["/auth/api-key", "/v1/keys"],
  ["/orders", "/v1/orders/{order_hash}"],
  ["/v1/status", "/v1/ready"],
  ["/swagger.json", "/v1/openapi.json"],
];

for (const [path, meant] of meantPaths) {
  test(`404: suggests ${meant} for ${path}`, async () => {
    const { message } = (await server.get(path)).body["error"] as { message: string };
    assert.equal(message, `There is no such path; did you mean ${meant}? See /docs`);
  });
}

test("308: a surplus slash redirects to the path, with its query", async () => {
  const { edge } = server;
  for (const [path, location] of [
    ["/v1/markets/", "/v1/markets"],
    ["/v1/markets/?limit=1&search=a%2Fb", "/v1/markets?limit=1&search=a%2Fb"],
    ["//v1//markets", "/v1/markets"],
    ["/v1/price/12/", "/v1/price/12"],
    ["/v1/keys/", "/v1/keys"],
    ["/v1/markets/?x=1?y=2", "/v1/markets?x=1?y=2"],
  ] as const) {
    for (const method of ["GET", "POST"]) {
      const answer = await edge.request(method, path, { key: edge.keys.read });
      assert.equal(answer.status, 308, path);
      const below = `${edge.url}/below`;
      const { href } = new URL(answer.headers.get("location") ?? "", below + path);
      assert.equal(href, below + location);
      assertEveryHeader(answer.headers);
    }
  }
  for (const path of [
    "//example.com/",
    "/v1/nothing/",
    "/v1//",
    "/v1/keys//rotate",
    "/v1//price/1",
  ]) {
    assertError(await server.get(path), "NOT_FOUND");
  }
});
