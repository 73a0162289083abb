/**
 * R9: the service follows a real node through real reorgs of a market of our own contracts, and serves
 * exactly what that node still has.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createPublicClient, http, parseEventLogs } from "viem";
import { contractsFile, venues } from "../../demo/addresses.ts";
import { Anvil, demoChainId } from "../../demo/anvil.ts";
import { getArtifact } from "../../demo/artifacts.ts";
import { DemoChain } from "../../demo/demo-chain.ts";
import { deploy } from "../../demo/deploy.ts";
import { playHistory } from "../../demo/play.ts";
import { Simulation } from "../../demo/simulation.ts";
import { cleanUp } from "../support/clean-up.ts";
import { Service } from "../support/service.ts";

const genesisSeconds = 1_790_000_000;
const toSeconds = genesisSeconds + 3 * 3600;
const blocks = 50;
const finalityLag = 32;

type Row = readonly unknown[];

async function openService(t: TestContext, rpcUrl: string): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const path = join(folder, "contracts.json");
  await writeFile(path, JSON.stringify(contractsFile));
  const settings = { ODDWIRE_CHAIN_ID: String(demoChainId), ODDWIRE_CONTRACTS_FILE: path };
  const service = await Service.open({
    rpcUrls: [rpcUrl],
    dataDir: join(folder, "data"),
    settings,
  });
  cleanUp(t, async () => {
    await service.kill9();
    await rm(folder, { recursive: true, force: true });
  });
  return service;
}

/** Every `OrderFilled` of the current chain, from the node and decoded by viem. */
async function readNode(url: string): Promise<Row[]> {
  const client = createPublicClient({ transport: http(url) });
  const rows: { key: number; row: Row }[] = [];
  for (const { generation, exchange } of Object.values(venues)) {
    const { abi } = getArtifact(generation === 1 ? "ExchangeV1" : "ExchangeV2");
    const logs = await client.getLogs({ address: exchange, fromBlock: 0n });
    for (const log of parseEventLogs({ abi, logs, eventName: "OrderFilled" })) {
      const args = log.args as unknown as Record<string, unknown>;
      const amounts = [String(args["makerAmountFilled"]), String(args["takerAmountFilled"])];
      const row = [log.blockHash, log.transactionHash, log.logIndex, args["orderHash"], ...amounts];
      rows.push({ key: Number(log.blockNumber) * 1_000_000 + log.logIndex, row });
    }
  }
  return rows.toSorted((one, other) => one.key - other.key).map(({ row }) => row);
}

async function readService(service: Service): Promise<Row[]> {
  const fills = await service.getAllPages("/v1/fills?limit=1000&order=asc");
  return fills.map((row) => [
    row["block_hash"],
    row["tx_hash"],
    row["log_index"],
    row["order_hash"],
    row["maker_amount_raw"],
    row["taker_amount_raw"],
  ]);
}

test("R9: the service serves exactly the fills that a node still has after reorgs", async (t) => {
  const anvil = await Anvil.open({ genesisSeconds, finalityLag, env: process.env, stop: t.signal });
  cleanUp(t, () => anvil.close());
  const chain = await DemoChain.open(anvil.url);
  await deploy(chain, genesisSeconds);
  const opening = { seconds: genesisSeconds, pastEndsAt: toSeconds };
  const simulation = await Simulation.open(chain, 20_261_120, opening);
  const span = { fromSeconds: genesisSeconds, toSeconds, blocks };
  await playHistory(simulation, span, new AbortController().signal);

  const service = await openService(t, anvil.url);
  const client = createPublicClient({ transport: http(anvil.url) });
  const request = client.request as (call: {
    method: string;
    params: unknown[];
  }) => Promise<unknown>;
  const counts: number[] = [];
  for (const depth of [1, 4, 9]) {
    await service.waitIndexed(Number(await client.getBlockNumber({ cacheTime: 0 })));
    const before = await readNode(anvil.url);
    assert.deepEqual(await readService(service), before);
    counts.push(before.length);
    await request({ method: "anvil_reorg", params: [depth, []] });
    await request({ method: "anvil_mine", params: ["0x2"] });
  }
  const head = Number(await client.getBlockNumber({ cacheTime: 0 }));
  await request({ method: "anvil_mine", params: [`0x${finalityLag.toString(16)}`] });
  await service.waitFinalized(head);
  const expected = await readNode(anvil.url);
  assert.deepEqual(await readService(service), expected);
  counts.push(expected.length);
  assert(new Set(counts).size > 1, "the reorganizations took trades back");
  assert.equal(await service.stop(), 0);
});
