/** The whole life of a question on two ledgers: one market in every answer, after reorgs, restarts and a backfill. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import * as fc from "fast-check";
import { formatMicros, priceMicros } from "../../src/base/decimal.ts";
import { formatTokenId, type TokenId, toSeq } from "../../src/base/ids.ts";
import { type Fill, isTrade } from "../../src/market/fill.ts";
import { toCandleRow } from "../../src/rows/candle-row.ts";
import { formatConditionId } from "../../src/rows/wire-format.ts";
import { cleanUp } from "../support/clean-up.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { buildChain, type GeneratedBlock } from "../support/generate-chain.ts";
import { anyTransaction, type TransactionPlan } from "../support/generate-matches.ts";
import { mirroredIds, mirroredLogs, mirroredPairs } from "../support/mirrored-market.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { scriptBlocks } from "../support/script-blocks.ts";
import { venueMarket } from "../support/scripted-metadata.ts";
import { ScriptedNode } from "../support/scripted-node.ts";
import { ScriptedVenue } from "../support/scripted-venue.ts";
import { adminKey, type Page, Service } from "../support/service.ts";
import { StreamClient } from "../support/stream-client.ts";
import { type LogContent, marketLogs, testMarkets } from "../support/test-markets.ts";
import { waitFor } from "../support/wait-for.ts";

type Row = Readonly<Record<string, unknown>>;
type Chain = readonly GeneratedBlock[];
/** What happens in a block. */
type Step = readonly (LogContent | TransactionPlan)[];
type Life = {
  /** The first of the blocks that can be reverted. */
  readonly finalSteps: number;
  /** The first block that a fork without one of the two conditions replaces, and its trades there. */
  readonly forkedFrom: number;
  readonly instead: Step;
  readonly steps: readonly Step[];
};

const { prepared, registered, resolved, mirrorResolved, migrationResolved } = mirroredLogs;
const { oracle, questionId } = testMarkets.standard;
const title = marketLogs.find(
  ({ address, topics }) => address === oracle && topics.includes(questionId),
);
assert(title !== undefined);
const samples = fc.sample(
  anyTransaction(
    { legacy: [mirroredPairs.legacy], generation3: [mirroredPairs.mirror] },
    fc.bigInt({ min: 1_000_000n, max: 1_000_000_000n }),
  ),
  { seed: 11, numRuns: 100 },
);
const tradesIn = (generation: 1 | 2 | 3): Step =>
  samples
    .filter(({ items }) => items.every(({ exchange }) => exchange.generation === generation))
    .slice(0, 3);
const [first, second, third] = [tradesIn(1), tradesIn(2), tradesIn(3)];

const lives: Readonly<Record<string, Life>> = {
  "registered, and resolved on both ledgers": {
    finalSteps: 4,
    forkedFrom: 4,
    instead: second,
    steps: [
      [prepared, title],
      first,
      second,
      [],
      [registered],
      third,
      [...second, ...third],
      [resolved, ...first],
      third,
      [mirrorResolved, migrationResolved],
      [...third, ...second],
    ],
  },
  "never registered or traded, and resolved first as a mirror": {
    finalSteps: 3,
    forkedFrom: 3,
    instead: second,
    steps: [
      [prepared, title],
      first,
      second,
      second,
      [],
      first,
      [mirrorResolved, migrationResolved],
      first,
      [resolved],
      second,
    ],
  },
  "linked by the ids alone, and traded as a mirror before the legacy condition is prepared": {
    finalSteps: 2,
    forkedFrom: 3,
    instead: third,
    steps: [
      [],
      third,
      third,
      [prepared, title],
      first,
      third,
      second,
      [resolved],
      [mirrorResolved],
      third,
    ],
  },
};

const legacyRowId = formatConditionId(mirroredIds.legacy);
const mirrorRowId = formatConditionId(mirroredIds.mirror);
const mirrorDigits = mirroredIds.mirror.slice(2, 64);
const slug = "the-question";
const getKey = ({ address, topics }: LogContent) => [address, ...topics].join();

/** What the chain says, computed block by block. */
function readChain(chain: Chain) {
  const logs = chain.flatMap(({ block }) => block.logs);
  const trades = chain.flatMap(({ fills }) => fills).filter(isTrade);
  const has = (log: LogContent) => logs.some((one) => getKey(one) === getKey(log));
  const ofMirror = ({ tokenId }: Fill) => mirroredPairs.mirror.includes(tokenId);
  const isMirrorSeen =
    trades.some(ofMirror) || logs.some(({ topics }) => topics.join().includes(mirrorDigits));
  const results = logs
    .filter((log) => [resolved, mirrorResolved].some((one) => getKey(one) === getKey(log)))
    .map((log) => ({
      conditionId: getKey(log) === getKey(resolved) ? legacyRowId : mirrorRowId,
      seq: toSeq(log.blockNumber, log.logIndex),
    }))
    .filter(({ conditionId }) => conditionId === mirrorRowId || has(prepared));
  const now = chain.at(-1)?.block.timestamp ?? 0;
  return { trades, results, now, isMirrorSeen, isPrepared: has(prepared) };
}
type Facts = ReturnType<typeof readChain>;

const getSeqs = (rows: readonly Row[]) => rows.map(({ seq }) => seq);

/** Asserts that there is one market, that every name finds it, and that its totals are those of both ledgers. */
async function assertMarket(service: Service, facts: Facts): Promise<void> {
  const { trades, results, isMirrorSeen, isPrepared } = facts;
  const isPaired = isMirrorSeen && isPrepared;
  const sum = (amounts: readonly bigint[]) => formatMicros(amounts.reduce((a, b) => a + b, 0n));
  const [row, ...others] = await service.getAllPages("/v1/markets");
  assert(row !== undefined && others.length === 0);
  assert.equal(row["id"], isPrepared ? legacyRowId : mirrorRowId);
  assert.equal(row["trades"], trades.length);
  assert.equal(row["trades_24h"], trades.length);
  assert.equal(row["volume_usd"], sum(trades.map(({ value }) => value)));
  assert.equal(row["volume_24h_usd"], row["volume_usd"]);
  assert.equal(row["volume_shares"], sum(trades.map(({ size }) => size)));
  assert.equal(row["last_trade_at_ms"], (trades.at(-1)?.timestamp ?? 0) * 1000);
  const generations = new Set(trades.map(({ exchange }) => exchange.generation));
  assert.deepEqual(
    row["exchange_versions"],
    [...generations].toSorted((a, b) => a - b),
  );
  assert.equal((row["resolution"] as Row | null)?.["seq"], results[0]?.seq);
  assert.equal((row["mirror"] as Row | null)?.["condition_id"], isPaired ? mirrorRowId : undefined);

  const [tokens, mirrorTokens] = [mirroredPairs.legacy, mirroredPairs.mirror];
  const legacyNames = [slug, mirroredIds.legacy, ...tokens.map(formatTokenId)];
  const mirrorNames = [mirroredIds.mirror, mirrorRowId, ...mirrorTokens.map(formatTokenId)];
  const names = [...(isPrepared ? legacyNames : []), ...(isMirrorSeen ? mirrorNames : [])];
  for (const name of names) {
    assert.deepEqual((await service.get<{ data: Row }>(`/v1/markets/${name}`)).data, row, name);
    if (name === slug) continue;
    const filter = name.startsWith("0x") ? "condition_id" : "token_id";
    assert.deepEqual(await service.getAllPages(`/v1/markets?${filter}=${name}`), [row], name);
    if (filter === "token_id") continue;
    const found = await service.getAllPages(`/v1/trades?condition_id=${name}&order=asc`);
    assert.deepEqual(getSeqs(found), getSeqs(trades), name);
  }
  if (isPrepared) {
    const found = await service.get<Page>("/v1/markets?search=standard");
    assert.deepEqual(
      found.data.map(({ id }) => id),
      [row["id"]],
    );
  }
  assert.equal((await service.getText("/v1/markets?format=csv")).trimEnd().split("\n").length, 2);
}

/** Asserts that the results of both ledgers are listed as one. */
async function assertResults(service: Service, { results, isPrepared }: Facts): Promise<void> {
  const listed = await service.getAllPages("/v1/resolutions");
  const [result, other] = results;
  const rows = listed.map((row) => [row["condition_id"], row["seq"]]);
  assert.deepEqual(rows, result === undefined ? [] : [[result.conditionId, result.seq]]);
  const repeated = listed[0]?.["mirror_resolution"] as Row | undefined;
  assert.equal(repeated?.["seq"], isPrepared ? other?.seq : undefined);
  assert.equal(repeated?.["condition_id"], other?.conditionId);
  const file = await service.getText("/v1/resolutions?format=csv");
  assert.equal(file.trimEnd().split("\n").length, 1 + listed.length);
}

/** Asserts that a token has its own trades, candles and price, and with `include_mirror` those of both ledgers. */
async function assertTokens(service: Service, facts: Facts): Promise<void> {
  const { legacy, mirror } = mirroredPairs;
  const sides = [...(facts.isPrepared ? [legacy] : []), ...(facts.isMirrorSeen ? [mirror] : [])];
  for (const pair of sides) {
    for (const [index, own] of pair.entries()) {
      const other = (tokens: readonly TokenId[]) => tokens[1 - index] ?? assert.fail();
      const both = sides.map((tokens) => tokens[index] ?? assert.fail());
      const ofPair = { same: [own], inverted: [other(pair)] };
      const joined = {
        same: [own, ...both.filter((id) => id !== own)],
        inverted: sides.map(other),
      };
      await assertToken(service, facts, { ...ofPair, more: "" });
      await assertToken(service, facts, { ...joined, more: "&include_mirror=true" });
    }
  }
}

type Joined = { readonly same: readonly TokenId[]; readonly inverted: readonly TokenId[] };

async function assertToken(
  service: Service,
  facts: Facts,
  { more, ...tokens }: Joined & { readonly more: string },
): Promise<void> {
  const id = formatTokenId(tokens.same[0] ?? assert.fail());
  const trades = facts.trades.filter(({ tokenId }) => tokens.same.includes(tokenId));
  const found = await service.getAllPages(`/v1/trades/market/${id}?order=asc${more}`);
  assert.deepEqual(getSeqs(found), getSeqs(trades), `trades of ${id}${more}`);
  const requested = { ...tokens, bucketSeconds: 60, now: facts.now };
  const candles = [...naiveCandles(facts.trades, requested)].map(([bucket, candle]) =>
    toCandleRow({ bucket, candle }, requested),
  );
  const query = `resolution=1m&start=0&limit=1000${more}`;
  const served = await service.get<Page>(`/v1/candles/${id}?${query}`);
  assert.deepEqual(served.data, candles, `candles of ${id}${more}`);
  const { data } = await service.get<{ data: Row }>(`/v1/price/${id}?${more.slice(1)}`);
  assert.equal(data["price"], getPrice(facts, tokens), `price of ${id}${more}`);
}

function getPrice({ trades, results }: Facts, { same, inverted }: Joined): string | null {
  const ledgers = Object.entries(mirroredPairs).filter(([, pair]) =>
    pair.some((tokenId) => same.includes(tokenId)),
  );
  const ids = ledgers.map(([ledger]) => (ledger === "legacy" ? legacyRowId : mirrorRowId));
  const isYes = ledgers.some(([, [yes]]) => same.includes(yes));
  if (results.some(({ conditionId }) => ids.includes(conditionId))) return isYes ? "1" : "0";
  const last = trades.findLast(({ tokenId }) => [...same, ...inverted].includes(tokenId));
  if (last === undefined) return null;
  const price = priceMicros(last.value, last.size) ?? 0n;
  return formatMicros(same.includes(last.tokenId) ? price : 1_000_000n - price);
}

async function assertOneQuestion(service: Service, chain: Chain): Promise<void> {
  const facts = readChain(chain);
  await service.waitIndexed(chain.at(-1)?.block.number ?? 0);
  // After a reorg the height can be the same.
  await waitFor("the trades of the chain", async () => {
    const { data } = await service.get<Page>("/v1/trades?limit=1");
    const { seq, block_hash: hash } = data[0] ?? {};
    const last = facts.trades.at(-1);
    return seq === last?.seq && hash === last?.blockHash ? true : null;
  });
  // The venue's market metadata changes the row.
  await waitFor("the slug", async () => {
    const { status } = await service.request(`/v1/markets/${slug}`);
    return status === 200 || !facts.isPrepared ? true : null;
  });
  await assertMarket(service, facts);
  await assertResults(service, facts);
  await assertTokens(service, facts);
}

async function openScene(t: TestContext, chain: Chain, finalBlock: number) {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  const venue = await ScriptedVenue.open();
  cleanUp(t, () => venue.close());
  const { conditionId, tokenIds } = testMarkets.standard;
  venue.marketMetadata.put(
    venueMarket({
      conditionId,
      tokenIds: tokenIds.map(formatTokenId),
      slug,
      more: { questionID: questionId },
    }),
  );
  const node = await ScriptedNode.open({ blocks: scriptBlocks(chain.map(({ block }) => block)) });
  cleanUp(t, () => node.close());
  node.setFinalized(finalBlock);
  const services: Service[] = [];
  cleanUp(t, () => Promise.all(services.map((service) => service.kill9())));
  const settings = {
    ...venue.settings,
    // The venue would name the legacy condition before the chain does.
    ODDWIRE_VENUE_MARKETS_MAX: "0",
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
    ODDWIRE_START_BLOCK: String(chain[0]?.block.number),
  };
  const open = async (name = "data"): Promise<Service> => {
    const dataDir = join(folder, name);
    const service = await Service.open({ rpcUrls: [node.url], dataDir, settings });
    services.push(service);
    return service;
  };
  return { node, open };
}

for (const [name, { steps, finalSteps, forkedFrom, instead }] of Object.entries(lives)) {
  test(`a question is one market in all answers: ${name}`, async (t) => {
    const build = (some: readonly Step[], salt: string, after: Chain = []): Chain => [
      ...after,
      ...buildChain(
        some.map((transactions) => ({ secondsLater: 40, reports: false, transactions })),
        { salt, after: after.at(-1)?.block },
      ),
    ];
    const chain = build(steps, "a");
    const getNumber = (step: number) => chain[step]?.block.number ?? assert.fail();
    const { node, open } = await openScene(t, chain, getNumber(finalSteps - 1));
    node.setHead(getNumber(finalSteps));
    const live = await open();
    await live.waitIndexed(getNumber(finalSteps));
    const stream = await StreamClient.open(live.baseUrl, { key: adminKey });
    const { subscription_id: id } = await stream.subscribe({ type: "resolutions" });
    await stream.subscribe({ type: "trades" });
    for (let height = finalSteps; height < chain.length; height += 1) {
      node.setHead(getNumber(height));
      await assertOneQuestion(live, chain.slice(0, height + 1));
    }
    const { trades, results } = readChain(chain);
    const seqOfEvent = (frame: Row) => (frame["data"] as Row)["seq"];
    await stream.until("the last trade", (client) =>
      client.events().some((frame) => seqOfEvent(frame) === trades.at(-1)?.seq),
    );
    assert.deepEqual(stream.events(id).map(seqOfEvent), [results[0]?.seq]);
    stream.close();

    await live.kill9();
    const restarted = await open();
    await assertOneQuestion(restarted, chain);
    const common = chain.slice(0, forkedFrom);
    const without = build([instead, ...steps.slice(forkedFrom).map(() => [])], "b", common);
    node.fork(scriptBlocks(without.map(({ block }) => block)).slice(forkedFrom));
    await assertOneQuestion(restarted, without);
    const again = build([...steps.slice(forkedFrom), [], []], "c", common);
    node.fork(scriptBlocks(again.map(({ block }) => block)).slice(forkedFrom));
    await assertOneQuestion(restarted, again);
    await restarted.kill9();
    const last = again.at(-1)?.block.number ?? 0;
    node.setFinalized(last);
    for (const folder of ["data", "backfilled"]) {
      const service = await open(folder);
      await service.waitFinalized(last);
      await assertOneQuestion(service, again);
      await service.kill9();
    }
  });
}
