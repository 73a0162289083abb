/**
 * The market of the demo on a real local node: the events of its contracts and the amounts that they move
 * must be consistent, as on the real chain.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createPublicClient, decodeEventLog, type Hex, http, type Log } from "viem";
import { addresses, contractsFile, type Venue, venues } from "../../demo/addresses.ts";
import { Anvil } from "../../demo/anvil.ts";
import { type ContractName, getArtifact } from "../../demo/artifacts.ts";
import { DemoChain } from "../../demo/demo-chain.ts";
import { deploy } from "../../demo/deploy.ts";
import { playHistory } from "../../demo/play.ts";
import { Simulation } from "../../demo/simulation.ts";
import type { Address, ConditionId } from "../../src/base/ids.ts";
import { parseContracts } from "../../src/contracts/contracts.ts";
import { deriveTokenIds } from "../../src/market/ids/condition-ids.ts";

type Event = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly txHash: Hex;
};

/** One `OrderFilled` of either generation, from the side of its order. */
type Row = {
  readonly maker: string;
  readonly taker: string;
  readonly isBuy: boolean;
  readonly tokenId: bigint;
  readonly cash: bigint;
  readonly shares: bigint;
};

type Match = { readonly legs: readonly Row[]; readonly summary: Row };

const seed = 20_261_120;
const genesisSeconds = 1_790_000_000;
const historySeconds = 6 * 3600;
const blocks = 400;

let anvil: Anvil;
let simulation: Simulation;
/** The complement of every token of a prepared condition. Both ids are derived. */
let complements: ReadonlyMap<bigint, bigint>;

before(async () => {
  anvil = await Anvil.open({
    genesisSeconds,
    env: process.env,
    stop: new AbortController().signal,
  });
  const chain = await DemoChain.open(anvil.url);
  await deploy(chain, genesisSeconds);
  const toSeconds = genesisSeconds + historySeconds;
  const opening = { seconds: genesisSeconds, pastEndsAt: toSeconds };
  simulation = await Simulation.open(chain, seed, opening);
  const span = { fromSeconds: genesisSeconds, toSeconds, blocks };
  await playHistory(simulation, span, new AbortController().signal);
  complements = await readComplements();
});

after(async () => {
  await anvil.close();
});

for (const [name, venue] of Object.entries(venues)) {
  test(`${name}: the legs of every match add up to the row of its taker`, async () => {
    const matches = getMatches(await readExchangeEvents(venue), venue);
    const kinds = new Set(matches.flatMap(checkMatch));
    assert.deepEqual([...kinds].toSorted(), ["complementary", "merge", "mint"]);
    assert.ok(matches.some(({ legs }) => legs.length > 1));
  });

  test(`${name}: no collateral or shares stay on the exchange`, async () => {
    const client = createPublicClient({ transport: http(anvil.url) });
    const getBalance = async (contract: ContractName, args: readonly unknown[]) =>
      client.readContract({
        address: contract === "Collateral" ? addresses.collateral : addresses.conditionalTokens,
        abi: getArtifact(contract).abi,
        functionName: "balanceOf",
        args,
      });
    assert.equal(await getBalance("Collateral", [venue.exchange]), 0n);
    const held = await Promise.all(
      [...complements.keys()].map((tokenId) =>
        getBalance("ConditionalTokens", [venue.exchange, tokenId]),
      ),
    );
    assert.ok(held.every((amount) => amount === 0n));
  });
}

test("the demo emits fees, refunds, cancellations and results, in the events of each generation", async () => {
  const getCount = async (contract: ContractName, address: Hex, name: string) =>
    (await readEvents(contract, address)).filter((event) => event.name === name).length;
  const { exchangeV1, exchangeV2, feeModule, conditionalTokens, negRiskAdapter } = addresses;
  for (const [contract, address, name] of [
    ["ExchangeV1", exchangeV1, "FeeCharged"],
    ["ExchangeV1", exchangeV1, "OrderCancelled"],
    ["ExchangeV1", exchangeV1, "TokenRegistered"],
    ["ExchangeV2", exchangeV2, "FeeCharged"],
    ["FeeModule", feeModule, "FeeRefunded"],
    ["ConditionalTokens", conditionalTokens, "ConditionResolution"],
    ["NegRiskAdapter", negRiskAdapter, "OutcomeReported"],
  ] as const) {
    assert.ok((await getCount(contract, address, name)) > 0, `no ${name}`);
  }
});

test("a neg-risk market that ended has exactly one question with the outcome YES", async () => {
  const outcomes = await readEvents("NegRiskAdapter", addresses.negRiskAdapter);
  const reported = outcomes.filter((event) => event.name === "OutcomeReported");
  const byMarket = Map.groupBy(reported, (event) => event.args["marketId"]);
  assert.ok(byMarket.size > 0);
  for (const questions of byMarket.values()) {
    assert.equal(questions.filter((event) => event.args["outcome"] === true).length, 1);
  }
});

test("the service accepts the list of contracts of the demo", () => {
  assert.ok("byAddress" in parseContracts(contractsFile));
});

test("the simulation resumes from its saved state", async () => {
  const saved = JSON.parse(JSON.stringify(simulation.state)) as Simulation["state"];
  const resumed = Simulation.resume(await DemoChain.open(anvil.url), saved);
  const seconds = genesisSeconds + historySeconds + 3600;
  await resumed.step({ seconds, pastEndsAt: 0 }, 3);
  assert.ok(resumed.state.serial > saved.serial, "an hour later no event had ended");
});

/** Checks a match and returns the kinds of its legs. */
function checkMatch({ legs, summary }: Match): string[] {
  const cost = legs.reduce((sum, leg) => sum + takersCash(leg, summary), 0n);
  const shares = legs.reduce((sum, leg) => sum + leg.shares, 0n);
  assert.equal(shares, summary.shares);
  // A refund to the buyer is not in the taker's row, which can show more cash than the trades cost.
  if (summary.isBuy) assert.ok(cost <= summary.cash);
  else assert.equal(cost, summary.cash);
  return legs.map((leg) => {
    assert.equal(leg.taker, summary.maker);
    assert.ok(leg.cash > 0n && leg.cash < leg.shares);
    if (leg.tokenId === summary.tokenId) {
      assert.notEqual(leg.isBuy, summary.isBuy);
      return "complementary";
    }
    assert.equal(complements.get(leg.tokenId), summary.tokenId);
    assert.equal(leg.isBuy, summary.isBuy);
    return leg.isBuy ? "mint" : "merge";
  });
}

/** The cash of the taker in a leg. In a mint or a merge both sides together pay or get one dollar per share. */
function takersCash(leg: Row, summary: Row): bigint {
  return leg.tokenId === summary.tokenId ? leg.cash : leg.shares - leg.cash;
}

/** Groups rows into matches. `OrdersMatched` ends a match and must repeat the row before it. */
function getMatches(events: readonly Event[], venue: Venue): Match[] {
  const matches: Match[] = [];
  let rows: { row: Row; txHash: Hex }[] = [];
  for (const { name, args, txHash } of events) {
    if (name === "OrderFilled") rows.push({ row: toRow(args), txHash });
    if (name !== "OrdersMatched") continue;
    const summary = rows.at(-1)?.row;
    const legs = rows.slice(0, -1);
    assert.ok(summary !== undefined && legs.length > 0 && legs.length <= 5);
    assert.equal(summary.taker, venue.exchange);
    assert.equal(summary.maker, args["takerOrderMaker"]);
    const repeated = [args["makerAmountFilled"], args["takerAmountFilled"]];
    const { cash, shares } = summary;
    assert.deepEqual(repeated, summary.isBuy ? [cash, shares] : [shares, cash]);
    assert.ok(rows.every((row) => row.txHash === txHash));
    assert.ok(legs.every(({ row }) => row.taker !== venue.exchange));
    matches.push({ legs: legs.map(({ row }) => row), summary });
    rows = [];
  }
  assert.equal(rows.length, 0);
  return matches;
}

function toRow(args: Event["args"]): Row {
  const side = args["side"];
  const [makerAsset, takerAsset] = [args["makerAssetId"], args["takerAssetId"]];
  const isBuy = side === undefined ? makerAsset === 0n : side === 0;
  const tokenId = args["tokenId"] ?? (isBuy ? takerAsset : makerAsset);
  const making = args["makerAmountFilled"] as bigint;
  const taking = args["takerAmountFilled"] as bigint;
  return {
    maker: args["maker"] as string,
    taker: args["taker"] as string,
    isBuy,
    tokenId: tokenId as bigint,
    cash: isBuy ? making : taking,
    shares: isBuy ? taking : making,
  };
}

async function readComplements(): Promise<ReadonlyMap<bigint, bigint>> {
  const pairs = new Map<bigint, bigint>();
  for (const { name, args } of await readEvents("ConditionalTokens", addresses.conditionalTokens)) {
    if (name !== "ConditionPreparation") continue;
    const { collateral, wrappedCollateral, negRiskAdapter } = addresses;
    const backing = args["oracle"] === negRiskAdapter ? wrappedCollateral : collateral;
    const conditionId = args["conditionId"] as ConditionId;
    const [first, second] = deriveTokenIds(conditionId, backing as string as Address);
    pairs.set(BigInt(first), BigInt(second)).set(BigInt(second), BigInt(first));
  }
  return pairs;
}

function readExchangeEvents(venue: Venue): Promise<Event[]> {
  return readEvents(venue.generation === 1 ? "ExchangeV1" : "ExchangeV2", venue.exchange);
}

async function readEvents(contract: ContractName, address: Hex): Promise<Event[]> {
  const client = createPublicClient({ transport: http(anvil.url) });
  const logs: Log[] = await client.getLogs({ address, fromBlock: 0n });
  return logs.map(({ data, topics, transactionHash }) => {
    const { eventName, args } = decodeEventLog({ abi: getArtifact(contract).abi, data, topics });
    assert.ok(eventName !== undefined && transactionHash !== null);
    return { name: eventName, args: args as unknown as Event["args"], txHash: transactionHash };
  });
}
