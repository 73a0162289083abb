/** Market metadata in a database: one process writes it and others read it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { clusterMetadataLimits } from "../../src/base/config/cluster-limits.ts";
import { formatTokenId, type TokenId } from "../../src/base/ids.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { MetadataReader } from "../../src/feed/cluster/metadata-reader.ts";
import { toFinalDelta, toUnfinalizedDelta } from "../../src/market/delta.ts";
import { schemaStatements } from "../../src/storage/schema/schema.ts";
import { MetadataTable } from "../../src/storage/server/metadata-table.ts";
import { type MetadataMarket, parseMarket } from "../../src/venue/metadata/parse-market.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer } from "../support/clickhouse/clickhouse-server.ts";
import { buildChain } from "../support/generate-chain.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { openServerEngine } from "../support/open-engines.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { venueMarket } from "../support/scripted-metadata.ts";
import { silentLog as log } from "../support/silent-log.ts";
import { getFacts } from "../support/store-chain.ts";
import { marketLogs, testMarkets } from "../support/test-markets.ts";
import { waitFor } from "../support/wait-for.ts";

const { standard, negRisk } = testMarkets;
const everything = marketLogs.map(() => ({ secondsLater: 2, reports: true, transactions: [] }));
const [firstBlock, ...blocks] = getFacts(buildChain(everything));
const quickClock = {
  ...systemClock,
  sleep: (ms: number, signal: AbortSignal) => systemClock.sleep(ms / 100, signal),
};

function getMetadata(
  market: { readonly conditionId: string; readonly tokenIds: readonly TokenId[] },
  slug: string,
): MetadataMarket {
  const tokenIds = market.tokenIds.map(formatTokenId);
  const parsed = parseMarket(venueMarket({ conditionId: market.conditionId, tokenIds, slug }));
  assert(parsed !== null);
  return parsed;
}

async function openTable(t: TestContext) {
  const server = await ClickHouseServer.open(t);
  const engine = await openServerEngine(t, server);
  const statements = schemaStatements({ kind: "server", database: "oddwire" }, engine);
  for (const sql of statements.filter((text) => text.includes("market_metadata"))) {
    await engine.command(sql);
  }
  return { server, table: new MetadataTable(engine) };
}

test("reading returns the newest row of each market, in pages, also after a restart of the server", async (t) => {
  const { server, table } = await openTable(t);
  assert.equal(await table.readNewestMs(), 0);
  assert.deepEqual(await table.readSince(0, null), []);
  const old = getMetadata(standard, "old");
  const newer = getMetadata(standard, "new");
  const other = getMetadata(negRisk, "other");
  await table.write([old, other], 1_000);
  await table.write([newer], 2_000);
  await server.restart();
  assert.equal(await table.readNewestMs(), 2_000);
  assert.deepEqual(await table.readSince(1_001, null), [
    { conditionId: standard.conditionId, market: newer, writtenMs: 2_000 },
  ]);
  assert.deepEqual(await table.readMetadata([negRisk.conditionId]), [
    { conditionId: negRisk.conditionId, market: other, writtenMs: 1_000 },
  ]);
  const many = Array.from({ length: clusterMetadataLimits.rowsReadMax }, (_, index) =>
    getMetadata({ conditionId: `0x${index.toString(16).padStart(64, "0")}`, tokenIds: [] }, "many"),
  );
  await table.write(many, 3_000);
  const first = await table.readSince(0, null);
  const rest = await table.readSince(0, first.at(-1)?.conditionId ?? null);
  assert.equal(first.length, clusterMetadataLimits.rowsReadMax);
  const found = [...first, ...rest].map(({ market }) => market);
  const expected = [...many, newer, other].toSorted((a, b) =>
    a.conditionId < b.conditionId ? -1 : 1,
  );
  assert.deepEqual(found, expected);
});

test("a row that is not valid market metadata is read as null", async (t) => {
  const { server, table } = await openTable(t);
  const { conditionId } = standard;
  const right = getMetadata(standard, "right");
  const wrongs: readonly unknown[] = [
    null,
    "text",
    [right],
    { ...right, conditionId: negRisk.conditionId },
    { ...right, texts: { ...right.texts, tags: [1] } },
    { ...right, claims: { ...right.claims, winnerIndex: "0" } },
    { ...right, claims: null },
  ];
  for (const [index, text] of ["{", ...wrongs.map((wrong) => JSON.stringify(wrong))].entries()) {
    const value = `unhex('${conditionId.slice(2)}'), ${index + 1}, '${text}'`;
    await server.ask(`INSERT INTO oddwire.market_metadata VALUES (${value})`);
    const [row] = await table.readMetadata([conditionId]);
    assert.deepEqual(row, { conditionId, market: null, writtenMs: index + 1 }, text);
  }
  await table.write([right], 100);
  assert.deepEqual((await table.readMetadata([conditionId]))[0]?.market, right);
});

test("a node shows the newest metadata, whether it is written before or after the market is known or reverted", async (t) => {
  const { table } = await openTable(t);
  assert(firstBlock !== undefined);
  const state = new MarketState(knownContracts(), new MemoryStateStore());
  const headBuffer = { reorgs: 0 };
  state.apply(toFinalDelta(firstBlock));
  const applyRest = () => {
    for (const block of blocks) state.apply(toUnfinalizedDelta(block));
  };
  const waitForSlug = (slug: string, { conditionId } = standard) =>
    waitFor(`the slug ${slug}`, async () => {
      const market = state.directory.market(conditionId);
      return market?.venue?.slug === slug ? true : null;
    });
  const start = () => {
    const parts = { table, ledger: state.venue, headBuffer, clock: quickClock, log };
    const reader = MetadataReader.start(parts);
    cleanUp(t, () => reader.close());
    return reader;
  };
  const reader = start();
  const now = systemClock.nowMs();
  await table.write([getMetadata(standard, "before")], now);
  await waitFor("the row to be read", async () => state.venue.progress.openReadAt);
  applyRest();
  await waitForSlug("before");
  await table.write([getMetadata(standard, "after")], now + 1);
  await waitForSlug("after");
  await table.write([getMetadata(negRisk, "later")], now + 2);
  await waitForSlug("later", negRisk);
  state.revert(firstBlock.number);
  headBuffer.reorgs += 1;
  applyRest();
  await waitForSlug("after");
  await waitForSlug("later", negRisk);
  await reader.close();
  await table.write([getMetadata(standard, "while-it-was-closed")], now + 3);
  start();
  await waitForSlug("while-it-was-closed");
});
