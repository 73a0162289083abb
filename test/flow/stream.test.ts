/**
 * The stream of the real service while its chain has reorgs, its process is killed and its connections
 * are cut. `STREAM_SOAK_SECONDS` sets for how long. The seed chooses the time of each fault.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { cleanUp } from "../support/clean-up.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { LiveChain } from "../support/live-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { ResumingClient } from "../support/resuming-client.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { adminKey, Service } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

const seconds = Number(process.env["STREAM_SOAK_SECONDS"] ?? 6);
const clientCount = 4;

test(`R11: clients that reconnect have every trade once after ${seconds} s of kills and cuts`, async (t) => {
  t.diagnostic(`seed ${testSeed}`);
  const random = new SeededRandom(testSeed);
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const chain = await LiveChain.open(t, random);
  const options = {
    rpcUrls: [chain.node.url],
    dataDir: join(folder, "data"),
    settings: {
      ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
      ODDWIRE_START_BLOCK: String(chain.blocks[0]?.block.number),
    },
  };
  let service = await Service.open(options);
  cleanUp(t, async () => {
    await service.kill9();
    await rm(folder, { recursive: true, force: true });
  });
  const clients = Array.from(
    { length: clientCount },
    () => new ResumingClient(() => service.baseUrl, adminKey),
  );
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
  const rows = await service.getAllPages("/v1/trades?order=asc&limit=1000");
  assert(rows.length > 0);
  const expected = rows.map(({ id }) => id);
  for (const client of clients) {
    const getIds = () =>
      [...client.rows].toSorted(([, a], [, b]) => a.seq - b.seq).map(([id]) => id);
    await waitFor("all trades", async () =>
      client.failure !== null || client.rows.size === expected.length ? true : null,
    ).catch(() => {});
    await client.close();
    assert.deepEqual(getIds(), expected);
    t.diagnostic(`${client.connections} connections, ${client.reorgs} forks`);
  }
});
