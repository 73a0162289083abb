/** With `ODDWIRE_WALLETS=off` nothing of wallets is fetched, stored or served, and every refusal names the setting. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { parseContracts } from "../../src/contracts/contracts.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { polygonContracts } from "../../src/contracts/polygon-contracts.ts";
import { ChdbEngine } from "../../src/storage/embedded/chdb-engine.ts";
import { cli } from "../support/cli.ts";
import { on } from "../support/faults.ts";
import { embeddedOnly } from "../support/open-facts.ts";
import { readFixture } from "../support/read-fixture.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { runCommand } from "../support/run-command.ts";
import type { ScriptedBlock } from "../support/scripted-block.ts";
import { adminKey, type Page, type Service } from "../support/service.ts";
import { StreamClient } from "../support/stream-client.ts";
import { systemSettings } from "../support/system-settings.ts";

const blocks = readFixture("wallets/chain.json.gz") as readonly ScriptedBlock[];
const off = { ODDWIRE_WALLETS: "off" };
const reason = "Wallets are not indexed: ODDWIRE_WALLETS is off";

/** The topics of the events that only wallets need. */
const walletTopics = (() => {
  const contracts = parseContracts(polygonContracts);
  assert(!("mistakes" in contracts));
  const [all, few] = [true, false].map((wallets) => {
    return new LogDecoder({ ...contracts, wallets }).filter.topics0;
  });
  return all?.filter((topic) => few?.includes(topic) !== true) ?? [];
})();

test("a service without wallets", { skip: embeddedOnly }, async (t) => {
  const stage = await serveRecording(t, { blocks } as never);
  const filters: string[] = [];
  stage.node.fault(
    on("eth_getLogs", ({ params }) => {
      filters.push(JSON.stringify(params).toLowerCase());
      return null;
    }),
  );
  const service = await stage.startService([stage.node.url], off);
  await service.waitFinalized(stage.head);

  await t.test("requests no log that only wallets need", () => {
    assert(walletTopics.length > 20 && filters.length > 0);
    const requested = filters.join();
    for (const topic of walletTopics) assert(!requested.includes(topic), topic);
  });
  await t.test("answers 404 with the setting", () => checkRefusals(service));
  await t.test("finds the trades of a wallet by reading fills", () => checkTrades(service));
  await t.test("has an agent find the trades instead", () => checkMcp(service));
  await t.test("has no rows of wallets in its metrics", async () => {
    const metrics = await service.getText("/v1/metrics/prometheus");
    const samples = metrics.split("\n").filter((line) => !/^#|route=/.test(line));
    assert(samples.length > 100);
    assert.doesNotMatch(samples.join("\n"), /ledger|balance|wallet/);
  });
  await t.test("exports no positions", async () => {
    const { wallet } = await readTrader(service);
    const words = ["export", "positions", "--wallet", wallet, "--out", `${stage.dataDir}.ndjson`];
    const done = await runCommand([...words, "--url", service.baseUrl, "--key", adminKey]);
    assert.equal(done.code === 0, false);
    assert(done.stderr.includes(reason), done.stderr);
  });
  assert.equal(await service.stop(), 0);

  const settings = { ...stage.commandSettings, ...off };
  await t.test("stores no table of wallets", async () => {
    const engine = await ChdbEngine.open(stage.dataDir, false);
    const names = await engine.query(
      "SELECT name FROM system.tables WHERE database = currentDatabase()",
    );
    await engine.close();
    const tables = names.map(([name]) => String(name));
    assert(tables.includes("fills") && tables.includes("hour_candles"));
    assert.deepEqual(
      tables.filter((name) => /ledger|balance|wallet/.test(name)),
      [],
    );
  });
  await t.test("checks and repairs the tables that exist", async () => {
    const engine = await ChdbEngine.open(stage.dataDir, false);
    await engine.command(
      "ALTER TABLE fills DELETE WHERE seq = (SELECT max(seq) FROM fills) SETTINGS mutations_sync = 2",
    );
    await engine.close();
    const repaired = await runCommand(["repair"], settings);
    assert.equal(repaired.code, 0, repaired.stderr);
    assert.match(repaired.stdout, /repaired/);
    const balances = await runCommand(
      ["check", "--from", String(stage.head), "--balances", "10"],
      settings,
    );
    assert.equal(balances.code, 2);
    assert.match(balances.stderr, /--balances needs ODDWIRE_WALLETS=on/);
  });
  await t.test("restarts without wallets, and refuses to restart with them", async () => {
    const again = await stage.startService([stage.node.url], off);
    await again.waitFinalized(stage.head);
    assert.equal(await again.stop(), 0);
    const refusal = /indexed with ODDWIRE_WALLETS=off, which a later start cannot change; set the/;
    await assert.rejects(stage.startService(), (thrown: Error) => {
      assert.match(thrown.message, refusal);
      return true;
    });
  });
});

async function readTrader(service: Service): Promise<{ wallet: string; market: string }> {
  const { data }: Page = await service.get("/v1/trades?include=market&limit=100");
  const trade = data.find(({ condition_id: id }) => id !== null);
  return { wallet: String(trade?.["maker"]), market: String(trade?.["condition_id"]) };
}

async function checkRefusals(service: Service): Promise<void> {
  const { wallet, market } = await readTrader(service);
  const own = ["", "/positions", "/activity", "/pnl"].map((path) => `/v1/wallets/${wallet}${path}`);
  const ofMarket = ["holders", "open-interest"].map((path) => `/v1/markets/${market}/${path}`);
  for (const path of [...own, ...ofMarket, "/v1/open-interest"]) {
    const { status, body } = await service.request(path);
    const { code, message } = (body as { error: Record<string, unknown> }).error;
    assert.deepEqual([status, code, message], [404, "NOT_FOUND", reason], path);
  }
  const sorted = await service.request("/v1/markets?sort=open_interest");
  assert.equal(sorted.status, 400);
  assert.match(JSON.stringify(sorted.body), /ODDWIRE_WALLETS is off/);
  const { data } = await service.get<{ data: Record<string, unknown> }>(`/v1/markets/${market}`);
  assert.equal(data["open_interest_usd"], null);
  const stream = await StreamClient.open(service.baseUrl, { key: adminKey });
  for (const channel of [
    { type: "wallet", wallets: [wallet] },
    { type: "open_interest", condition_ids: [market] },
  ]) {
    stream.send({ action: "subscribe", channel });
    const { error } = (await stream.next("error")) as unknown as {
      error: Record<string, unknown>;
    };
    assert.deepEqual([error["code"], error["message"]], ["NOT_FOUND", reason]);
  }
  stream.close();
}

async function checkMcp(service: Service): Promise<void> {
  const { wallet } = await readTrader(service);
  const client = new Client({ name: "test", version: "1" });
  const args = [cli, "mcp", "--url", service.baseUrl];
  const env = { ...systemSettings(), ODDWIRE_API_KEY: adminKey };
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  try {
    const call = async (name: string, input: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: input });
      return { text: (content as [{ text: string }])[0].text, isError: isError === true };
    };
    const refused = await call("get_wallet", { wallet });
    assert(refused.isError);
    assert(refused.text.includes(reason), refused.text);
    assert.match(refused.text, /list_trades with wallet has its trades/);
    const { text, isError } = await call("list_trades", { wallet, limit: 5 });
    assert(!isError, text);
    assert.equal((JSON.parse(text) as { trades: unknown[] }).trades.length, 5);
  } finally {
    await client.close();
  }
}

async function checkTrades(service: Service): Promise<void> {
  const { wallet } = await readTrader(service);
  const all = await service.getAllPages("/v1/trades?limit=1000");
  const expected = all.filter(({ maker, taker }) => maker === wallet || taker === wallet);
  const found = await service.getAllPages(`/v1/trades?wallet=${wallet}&limit=10`);
  assert.deepEqual(
    found.map(({ id }) => id),
    expected.map(({ id }) => id),
  );
}
