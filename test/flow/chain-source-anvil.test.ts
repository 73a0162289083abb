/** The chain source against a real node, with real reorgs. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import type { Address, Hash } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import { ChainSource, type ChainSourceOptions } from "../../src/chain/sync/chain-source.ts";
import { ChainFollower } from "../support/chain-follower.ts";
import { cleanUp } from "../support/clean-up.ts";
import { waitFor } from "../support/wait-for.ts";

/** A contract that logs the first word of the call data as topic, and the second as data. */
const emitterCode = "0x600f600c600039600f6000f360203560005260003560206000a100";
const requested = `0x${"11".repeat(32)}` as Hash;
const unrequested = `0x${"22".repeat(32)}`;
/** The finalized block is twice as many blocks behind the head. */
const slotsPerEpoch = 16;

type NodeLog = { blockHash: string; transactionHash: string; logIndex: string; data: string };

let anvil: ChildProcess;
let address = "";
let emitter = "";
let accounts: string[] = [];

async function rpc<T>(method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`http://${address}`, { method: "POST", headers, body });
  const { result, error } = (await response.json()) as { result: T; error?: unknown };
  assert.equal(error, undefined, method);
  return result;
}

before(async () => {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const require = createRequire(import.meta.url);
  const binary = require.resolve(`@foundry-rs/anvil-${platform}/bin/anvil`);
  const options = ["--port", "0", "--no-mining", "--slots-in-an-epoch", String(slotsPerEpoch)];
  anvil = spawn(binary, options, { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  anvil.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  address = await waitFor("anvil", async () => {
    return /Listening on (127\.0\.0\.1:[0-9]+)/.exec(output)?.[1] ?? null;
  });
  accounts = await rpc<string[]>("eth_accounts");
  const [from] = accounts;
  const hash = await rpc("eth_sendTransaction", { from, data: emitterCode });
  await rpc("anvil_mine");
  const receipt = await rpc<{ contractAddress: string }>("eth_getTransactionReceipt", hash);
  emitter = receipt.contractAddress;
});

after(async () => {
  anvil.kill();
  await once(anvil, "exit");
});

/** Mines `count` blocks. Every third one has unwanted logs only, the others have wanted and unwanted logs. */
async function mine(count: number): Promise<void> {
  for (let block = 0; block < count; block += 1) {
    const topics = block % 3 === 2 ? [unrequested] : [requested, unrequested, requested];
    for (const [index, topic] of topics.entries()) {
      const data = topic + block.toString(16).padStart(64, "0");
      await rpc("eth_sendTransaction", {
        from: accounts[index],
        to: emitter,
        data,
        gas: "0x186a0",
      });
    }
    await rpc("anvil_mine");
  }
}

async function headNumber(): Promise<number> {
  return Number(await rpc<string>("eth_blockNumber"));
}

async function follow(url: string): Promise<{ source: ChainSource; follower: ChainFollower }> {
  const options: ChainSourceOptions = {
    urls: [url],
    chainId: 31_337,
    startBlock: 0,
    filter: { addresses: [emitter.toLowerCase() as Address], topics0: [requested] },
    log: openLog({ level: "silent" }),
  };
  const source = await ChainSource.open(options, ({ blocks }) => blocks);
  return { source, follower: new ChainFollower(source, 0) };
}

/** Asserts that the source has emitted all wanted logs that the node returns. */
async function assertSame(follower: ChainFollower): Promise<void> {
  const range = { fromBlock: "0x0", toBlock: "latest", address: emitter, topics: [requested] };
  const expected = await rpc<NodeLog[]>("eth_getLogs", range);
  const reported = [...follower.blocks.values()]
    .toSorted((one, other) => one.number - other.number)
    .flatMap((block) => block.logs);
  assert.deepEqual(
    reported.map((log) => [log.blockHash, log.txHash, log.logIndex, log.data]),
    expected.map((log) => [log.blockHash, log.transactionHash, Number(log.logIndex), log.data]),
  );
}

async function waitForHead(follower: ChainFollower): Promise<void> {
  const head = await headNumber();
  const { hash } = await rpc<{ hash: string }>("eth_getBlockByNumber", "latest", false);
  await follower.until(({ tip, tipHash }) => tip === head && tipHash === hash);
}

describe("against Anvil", () => {
  for (const scheme of ["http", "ws"]) {
    test(`R1, R9: blocks, reorgs and finality over ${scheme} are those of the node`, async (t) => {
      await mine(80);
      const { source, follower } = await follow(`${scheme}://${address}`);
      cleanUp(t, () => source.close());
      await waitForHead(follower);
      await assertSame(follower);
      for (const depth of [1, 5, 20, 2]) {
        await mine(3);
        await waitForHead(follower);
        await rpc("anvil_reorg", depth, []);
        await mine(1);
        await waitForHead(follower);
        await assertSame(follower);
      }
      assert.equal(source.status.deepestReorg, 20);
      assert.equal(source.status.reorgs, 4);
      await mine(5);
      await waitForHead(follower);
      const head = await headNumber();
      await follower.until(({ finalized }) => finalized === head - 2 * slotsPerEpoch);
      await assertSame(follower);
    });
  }
});
