/**
 * `npm run demo`: an invented market on a local chain, and the service on top of it. Nothing leaves this machine.
 * `--seed N` repeats a market, and `--chain-only` leaves the service out. `--cluster` (`npm run demo:cluster`) starts
 * an indexer and two serving nodes, which begin with a new market each time.
 */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { contractsFile } from "./addresses.ts";
import { Anvil } from "./anvil.ts";
import { BookBoard } from "./book-board.ts";
import { DemoChain } from "./demo-chain.ts";
import { DemoFolder } from "./demo-folder.ts";
import { deploy } from "./deploy.ts";
import { playHistory, playLive } from "./play.ts";
import { Service, SettingsError } from "./service.ts";
import { Simulation, type SimulationState } from "./simulation.ts";

const historySeconds = 26 * 3600;
const historyBlocks = 600;

const flags = readFlags();
const seed = flags.seed === undefined ? randomInt(2 ** 31) : Number(flags.seed);
if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 31) {
  console.error("--seed is a whole number from 0 to 2147483647");
  process.exit(2);
}
/** As for the service, an empty setting counts as none. */
const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ""));
/** A second demo uses a folder inside that of the first. */
const folders =
  env["ODDWIRE_DATA_DIR"] === undefined
    ? ["", "/2", "/3", "/4"].map((end) =>
        resolve(`${flags.cluster ? ".demo-cluster" : ".demo"}${end}`),
      )
    : [resolve(env["ODDWIRE_DATA_DIR"])];
const stop = new AbortController();
const stopped = once(stop.signal, "abort");
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => stop.abort());
}

try {
  if (!flags["chain-only"])
    await Service.checkSettings(flags.cluster ? { ...env, ODDWIRE_PORT: "0" } : env);
  const folder = DemoFolder.open(folders);
  try {
    await runDemo(folder);
  } catch (error) {
    if (error !== stop.signal.reason) throw error;
  } finally {
    folder.close();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof SettingsError ? 2 : 1;
}

function readFlags() {
  try {
    return parseArgs({
      options: {
        seed: { type: "string" },
        "chain-only": { type: "boolean", default: false },
        cluster: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    const [sentence] = (error as Error).message.split(". ");
    console.error(`${sentence}: settings of the service are variables, such as ODDWIRE_PORT=8090`);
    process.exit(2);
  }
}

/** Runs until it is stopped. The state from which a later start resumes is written after the chain has stopped. */
async function runDemo(folder: DemoFolder): Promise<void> {
  const beginsAt = Math.floor(Date.now() / 1000) - historySeconds;
  // The market of a cluster is never resumed.
  const resumable = flags.cluster ? {} : { stateFile: folder.stateFile };
  const anvil = await Anvil.open({
    ...resumable,
    genesisSeconds: beginsAt,
    env,
    stop: stop.signal,
  });
  console.log(`chain    ${anvil.url}`);
  const board = await BookBoard.open();
  let live: Promise<SimulationState> | null = null;
  try {
    const simulation = await openMarket(folder, await DemoChain.open(anvil.url), beginsAt);
    simulation.openBooks(Math.floor(Date.now() / 1000));
    board.show(simulation);
    const onStep = () => board.show(simulation);
    live = playLive(simulation, { signal: stop.signal, onStep });
    const withService = !flags["chain-only"] && !stop.signal.aborted;
    await together([
      live,
      Promise.race([stopped, anvil.failed()]),
      withService ? runService(folder, { rpcUrl: anvil.url, venue: board.settings }) : stopped,
    ]);
  } finally {
    await board.close();
    const isWritten = await anvil.close();
    const state = (await live?.catch(() => null)) ?? null;
    if (isWritten && state !== null && !flags.cluster) {
      folder.saveMarket(state);
      console.log(
        `Stopped. The next start resumes from here; delete ${folder.path} to start over.`,
      );
    }
  }
}

/** Resumes the market of the last start, or plays a day of trading on an empty chain. */
async function openMarket(
  folder: DemoFolder,
  chain: DemoChain,
  beginsAt: number,
): Promise<Simulation> {
  const { market } = folder;
  folder.forgetMarket();
  if (market !== null) {
    console.log(`market   resumed (delete ${folder.path} for a new one)`);
    return Simulation.resume(chain, market);
  }
  const startedMs = performance.now();
  const endsAt = beginsAt + historySeconds;
  await deploy(chain, beginsAt);
  const opening = { seconds: beginsAt, pastEndsAt: endsAt };
  const simulation = await Simulation.open(chain, seed, opening);
  const span = { fromSeconds: beginsAt, toSeconds: endsAt, blocks: historyBlocks };
  await playHistory(simulation, span, stop.signal);
  const tookSeconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const hours = historySeconds / 3600;
  console.log(`market   ${hours} hours of trading, played in ${tookSeconds} s (seed ${seed})`);
  return simulation;
}

async function runService(
  folder: DemoFolder,
  place: { rpcUrl: string; venue: Readonly<Record<string, string>> },
): Promise<void> {
  const { dataDir, access, logFile } = folder;
  const contracts = folder.writeContracts(contractsFile);
  const own = { contractsFile: contracts, dataDir, logFile, env, stop: stop.signal };
  const options = { ...access, ...place, ...own };
  const service = flags.cluster
    ? await (await import("./demo-cluster.ts")).DemoCluster.open(options)
    : await Service.open(options);
  try {
    folder.saveAccess({ ...access, port: service.serving[0].port });
    const introduced = introduce(service.serving, access.key).then(() => stopped);
    await Promise.race([introduced, stopped, service.failed()]);
  } finally {
    await service.close();
  }
}

/** Prints commands to paste, once every node can answer them. */
async function introduce(serving: readonly [Service, ...Service[]], key: string): Promise<void> {
  for (const service of serving) await service.waitReady(stop.signal);
  const [first, ...others] = serving;
  const token = await first.fetchBusiestToken();
  const url = first.baseUrl;
  const elsewhere = others.map(({ baseUrl }) => `\nThe same data, keys and limits: ${baseUrl}\n`);
  const curl = `curl -s -H 'X-API-Key: ${key}'`;
  console.log(`service  ${url}
key      ${key}
explorer ${url}/#key=${key}
${elsewhere.join("")}
Markets, candles and order book of the busiest token, and live trades; paste into another terminal:

${curl} '${url}/v1/markets?limit=5'
${curl} '${url}/v1/candles/${token}?resolution=15m'
${curl} '${url}/v1/orderbook/${token}?depth=5'
npx oddwire tail --url ${url} --key ${key}

Trading continues. Ctrl-C stops everything; the next start ${flags.cluster ? "begins with a new market" : "resumes from there"}.`);
}

/** Waits until all tasks have ended. The first failure stops the other tasks and is thrown. */
async function together(tasks: readonly Promise<unknown>[]): Promise<void> {
  for (const task of tasks) task.catch(() => stop.abort());
  await Promise.allSettled(tasks);
  await Promise.all(tasks);
}
