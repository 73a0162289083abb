/**
 * The stream of the real service while its chain has reorgs, its process is killed and its connections
 * are cut: trades, what wallets did, and the open interest of markets. `STREAM_SOAK_SECONDS` sets for how long. The seed chooses the time of each fault.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Contracts } from "../../src/contracts/contracts.ts";
import { toFinalDelta } from "../../src/market/delta.ts";
import { readContracts } from "../../src/roles/read-contracts.ts";
import { formatConditionId } from "../../src/rows/wire-format.ts";
import { openChannel } from "../../src/stream/channels.ts";
import { pageAfter } from "../../src/stream/hub/channel.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { formatBooks, getWallets } from "../sim/ledger/assert-books.ts";
import { LedgerChain, type ModelBlock } from "../sim/ledger/ledger-chain.ts";
import { burnAddress, feeModules, traded, vault } from "../sim/ledger/model-markets.ts";
import { newState } from "../sim/ledger/model-transaction.ts";
import { operator, wallets } from "../sim/ledger/turn.ts";
import { cleanUp } from "../support/clean-up.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { steady } from "../support/folding-client.ts";
import { LiveChain } from "../support/live-chain.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { testSeed } from "../support/property-settings.ts";
import { ResumingClient } from "../support/resuming-client.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { adminKey, Service } from "../support/service.ts";
import { getFacts } from "../support/store-chain.ts";
import { waitFor } from "../support/wait-for.ts";

const seconds = Number(process.env["STREAM_SOAK_SECONDS"] ?? 6);

/** Every condition that exchanges trade. */
const markets = traded.map(({ id }) => formatConditionId(id));
const holders = [...wallets, operator, burnAddress, vault, ...feeModules];

/** The open interest of markets as a process finds it that follows the chain from the start, by market. */
async function deriveInterest(
  blocks: readonly ModelBlock[],
  contracts: Contracts,
): Promise<unknown[]> {
  const state = new MarketState(contracts, new MemoryStateStore());
  for (const one of getFacts(blocks)) state.apply(toFinalDelta(one));
  const conditionIds = traded.map(({ id }) => id);
  const request = { type: "open_interest", condition_ids: conditionIds };
  const channel = openChannel(request, { state, books: null } as never);
  const entries = await channel.read({ ...pageAfter(-1, 1_000), restate: true });
  return entries.map(({ json }): unknown => JSON.parse(json));
}

test(`R11: clients that reconnect have every row once after ${seconds} s of kills and cuts`, async (t) => {
  t.diagnostic(`seed ${testSeed}`);
  const random = new SeededRandom(testSeed);
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const ledger = new LedgerChain(testSeed);
  const chain = await LiveChain.open(t, random, ledger.make);
  const first = chain.blocks[0]?.block.number;
  const contractsFile = await writeContractsFile(folder, first);
  const options = {
    rpcUrls: [chain.node.url],
    dataDir: join(folder, "data"),
    settings: {
      ODDWIRE_CONTRACTS_FILE: contractsFile,
      ODDWIRE_START_BLOCK: String(first),
    },
  };
  let service = await Service.open(options);
  cleanUp(t, async () => {
    await service.kill9();
    await rm(folder, { recursive: true, force: true });
  });
  const [trades, activity, interest] = (
    [
      { type: "trades" },
      { type: "wallet", wallets: holders },
      { type: "open_interest", condition_ids: markets },
    ] as const
  ).map((channel) =>
    [1, 2].map(() => new ResumingClient(() => service.baseUrl, adminKey, channel)),
  );
  assert(trades && activity && interest);
  const clients = [...trades, ...activity, ...interest];
  cleanUp(t, async () => void (await Promise.all(clients.map((client) => client.close()))));
  chain.goOn(60);
  const endsAt = performance.now() + seconds * 1000;
  while (performance.now() < endsAt) {
    // This delay waits for nothing. It makes the time of the fault random.
    await delay(random.integer(50, 500));
    if (random.chance(0.7)) random.pick(clients).cut();
    else {
      if (random.chance(0.5)) await service.kill9();
      else await service.stop();
      service = await Service.open(options);
    }
  }
  chain.stop();
  chain.settle();
  await service.waitFinalized(chain.head);
  const served = await service.getAllPages("/v1/trades?order=asc&limit=1000");
  for (const client of trades) await assertRows(client, served);
  const seen = getWallets(ledger.blocks.at(-1)?.state ?? newState());
  const done = await Promise.all(
    seen.map((wallet) => service.getAllPages(`/v1/wallets/${wallet}/activity?limit=1000`)),
  );
  assert.equal(done.flat().length, formatBooks(ledger.blocks).length);
  for (const client of activity) await assertRows(client, done.flat());
  const figures = await deriveInterest(
    ledger.blocks,
    await readContracts({ contractsFile, wallets: "on" }),
  );
  assert(figures.every((row) => (row as { complete: boolean }).complete));
  for (const client of interest) await assertRows(client, figures);
  for (const client of clients)
    t.diagnostic(`${client.connections} connections, ${client.reorgs} forks`);
});

/** Waits until a client has these rows, and asserts that it has no others. */
async function assertRows(client: ResumingClient, rows: readonly unknown[]): Promise<void> {
  assert(rows.length > 0);
  const format = (row: unknown) => JSON.stringify(steady(row));
  const expected = rows.map(format).toSorted();
  const getOwn = () => [...client.rows.values()].map(({ data }) => format(data)).toSorted();
  await waitFor("all rows", async () => {
    return client.failure !== null || isDeepStrictEqual(getOwn(), expected) ? true : null;
  }).catch(() => {});
  await client.close();
  assert.deepEqual(getOwn(), expected);
}
