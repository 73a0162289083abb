import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Page, Service } from "../test/support/service.ts";
import { killServers, startServer } from "./child-server.ts";
import { contractsFromBlock0 } from "./endless-node.ts";
import { measureStart, seconds } from "./measure-start.ts";
import { median } from "./median.ts";

const logsPerBlock = 112;
const firstLogs = 2_000_000;
const moreLogs = 300_000;
const starts = 5;
/** Slow enough for the limit of a key. */
const askEveryMs = 250;

/**
 * Kills a service several times while it catches up with a chain at full speed, and prints how long each start but the
 * first took. All trades are within one day.
 */
export async function measureKilledLives(folder: string): Promise<void> {
  const blocks = Math.ceil((firstLogs + (starts + 2) * moreLogs) / logsPerBlock);
  const node = await startServer("endless-node.ts", [String(blocks)]);
  const contracts = join(folder, "contracts-of-block-0.json");
  await writeFile(contracts, JSON.stringify(contractsFromBlock0()));
  const options = {
    rpcUrls: [node.url],
    dataDir: join(folder, "killed"),
    // A large limit, so that the service is ready while it is behind.
    settings: { ODDWIRE_CONTRACTS_FILE: contracts, ODDWIRE_READY_MAX_LAG_SECONDS: "86400" },
  };
  await killAt(await Service.open(options), firstLogs);
  const readyMs: number[] = [];
  for (let start = 1; start <= starts; start += 1) {
    const measured = await measureStart(options);
    readyMs.push(measured.readyMs);
    process.stdout.write(`killed while catching up, start ${start}: ${measured.reported}\n`);
    await killAt(measured.service, firstLogs + start * moreLogs);
  }
  killServers();
  process.stdout.write(`killed while catching up: ready after ${seconds(median(readyMs))}\n`);
}

/** Kills a service once it has stored `logs` logs. */
async function killAt(service: Service, logs: number): Promise<void> {
  for (;;) {
    const { meta } = await service.get<Page>("/v1/trades?limit=1");
    if ((meta.finalized_block ?? -1) * logsPerBlock >= logs) return service.kill9();
    await pause(askEveryMs);
  }
}
