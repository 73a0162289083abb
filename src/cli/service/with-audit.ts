import { setTimeout as delay } from "node:timers/promises";
import { type Config, readConfig } from "../../base/config/config.ts";
import { auditLimits } from "../../base/config/limits.ts";
import { requireFacts } from "../../base/config/make-data-directory.ts";
import { AppError } from "../../base/errors.ts";
import { openLog } from "../../base/log.ts";
import { systemClock } from "../../base/time/clock.ts";
import { mapInOrder } from "../../base/time/map-in-order.ts";
import type { BlockRange, Coverage } from "../../chain/raw-log.ts";
import { ChainSource, type ChainSourceOptions } from "../../chain/sync/chain-source.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { type AuditParts, auditRange, type Verdict } from "../../feed/audit-range.ts";
import { rereadFacts } from "../../feed/reread-facts.ts";
import { readContracts } from "../../roles/read-contracts.ts";
import { readCompleteCoverage } from "../../storage/append/fact-store.ts";
import {
  lockDataDirectory,
  readStartBlock,
  refuseUnidentified,
} from "../../storage/directory/data-directory.ts";
import { openFolder } from "../../storage/embedded/open-folder.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { readNamedContracts } from "../../storage/read-delta.ts";
import { finishRepair } from "../../storage/recovery/repair.ts";
import { getServerDatabase, openExistingDatabase } from "../../storage/server/open-database.ts";
import { dropMarketsFile } from "../../views/disk/markets-file.ts";
import { closeBeforeExit, UsageError } from "../command.ts";
import { type BalanceCheck, checkBalances } from "./check-balances.ts";
import { CheckProgress } from "./check-progress.ts";
import { toEnvironment } from "./setting-flags.ts";

/** The parts that `check` and `repair` work with. */
export type AuditCommandParts = {
  readonly dataDir: string;
  readonly engine: Engine;
  readonly coverage: Coverage;
  readonly range: BlockRange;
  /**
   * Reads slices of the range again and compares them, so many at a time. Yields the verdicts that are not `equal`, and
   * shows progress on standard error. Retries while no node answers, then throws `SERVICE_UNAVAILABLE`.
   */
  readonly compare: (slicesAtOnce: number) => AsyncIterable<Mismatch>;
  /** Compares so many balances with the token contracts, at the last stored block. */
  readonly compareBalances: (count: number) => Promise<BalanceCheck>;
};

type Mismatch = Extract<Verdict, { kind: "differs" }>;

/** The options for the range of blocks. By default all stored blocks. */
export type RangeOptions = {
  readonly from?: string;
  readonly to?: string;
  /** The data directory, if it is not that of the settings. */
  readonly dataDir?: string;
};

/** Blocks that are read again and compared at a time. Bounds the memory, and the blocks of one repair. */
const sliceBlocks = 500;

/**
 * Opens the configured store and nodes, and passes them to `work`. A server is only read unless `isWriting`. Throws
 * `DataDirectoryBusyError` while another process uses the data directory, unless a server is only read.
 */
export async function withAudit<Result>(
  options: RangeOptions & { readonly isWriting?: boolean },
  work: (parts: AuditCommandParts) => Promise<Result>,
): Promise<Result> {
  const config = readConfig("serve", toEnvironment({ dataDir: options.dataDir }));
  const contracts = await readContracts(config);
  const { dataDir } = config;
  await using opened = new AsyncDisposableStack();
  opened.defer(closeBeforeExit(() => opened.disposeAsync()));
  const isFolder = config.clickhouseUrl === null;
  // A server may be read while a service serves from it.
  const isOurs = isFolder || options.isWriting === true;
  if (isFolder) requireFacts(dataDir);
  if (isOurs) opened.defer(lockDataDirectory(dataDir));
  const startedAt = isOurs ? await readStartBlock({ config, contracts }) : null;
  const engine = isFolder
    ? await openFolder(dataDir, contracts)
    : await openExistingDatabase(getServerDatabase(config, contracts));
  opened.defer(() => engine.close());
  const coverage = await readCompleteCoverage(engine, { onWaiting: reportWaiting });
  if (isFolder) refuseUnidentified(dataDir, { startedAt, coverage });
  if (isOurs) await finishRepair(engine, () => dropMarketsFile(dataDir));
  if (coverage === null) throw new AppError("NOT_FOUND", "nothing is stored yet");
  const range = getRange(options, coverage);
  const { source, nodes } = await openNodes({ config, contracts, engine, coverage }, opened);
  const compare = (slicesAtOnce: number) => compareSlices(range, nodes, slicesAtOnce);
  const compareBalances = (count: number) => {
    if (!contracts.wallets) throw new UsageError("--balances needs ODDWIRE_WALLETS=on");
    return checkBalances({ engine, coverage, contracts, source }, count);
  };
  return await work({ dataDir, engine, coverage, range, compare, compareBalances });
}

function reportWaiting(reason: string): void {
  process.stderr.write(`oddwire: waiting until the stored facts can be read: ${reason}\n`);
}

async function* compareSlices(
  range: BlockRange,
  nodes: AuditParts,
  slicesAtOnce: number,
): AsyncGenerator<Mismatch, void, undefined> {
  const progress = new CheckProgress({ range, output: process.stderr, clock: systemClock });
  const auditSlice = async (slice: BlockRange) => ({
    slice,
    verdict: await auditPatiently(slice, nodes),
  });
  for await (const { slice, verdict } of mapInOrder(toSlices(range), auditSlice, slicesAtOnce)) {
    progress.reach(slice.to);
    if (verdict.kind === "equal") continue;
    progress.clear();
    yield verdict;
  }
  progress.clear();
}

/** Splits a range into slices of `sliceBlocks`, in order. */
function* toSlices({ from, to }: BlockRange): Generator<BlockRange, void, undefined> {
  for (let next = from; next <= to; next += sliceBlocks) {
    yield { from: next, to: Math.min(to, next + sliceBlocks - 1) };
  }
}

async function openNodes(
  parts: Pick<AuditCommandParts, "engine" | "coverage"> & {
    readonly config: Config;
    readonly contracts: Contracts;
  },
  opened: AsyncDisposableStack,
): Promise<{ readonly source: ChainSource<unknown>; readonly nodes: AuditParts }> {
  const { config, contracts, engine, coverage } = parts;
  const decoder = new LogDecoder(contracts);
  const options: ChainSourceOptions = {
    urls: config.rpcUrls,
    callsPerSecondMax: config.rpcCallsPerSecond,
    minorityRule: config.rpcMinority,
    aheadSecondsMax: config.blocksAheadSecondsMax,
    chainId: config.chainId,
    startBlock: "latest",
    filter: decoder.filter,
    log: openLog({ level: "error" }),
  };
  decoder.filter.named.replaceFrom(0, await readNamedContracts(engine, coverage.last));
  const source = await ChainSource.open(options, ({ blocks }) => blocks);
  opened.defer(() => source.close());
  const nodes: AuditParts = {
    engine,
    endpoints: config.rpcUrls.length,
    areTimesBelieved: true,
    reread: async (request) => {
      const reading = await rereadFacts({ source, decoder }, request);
      const { awaitedHosts } = source.status;
      if (reading.kind === "read" || awaitedHosts.length === 0) return reading;
      const reason = `most endpoints have to answer, and ${awaitedHosts.join(", ")} do not`;
      return { kind: "unread", reason: `${reason} (ODDWIRE_RPC_MINORITY)` };
    },
  };
  return { source, nodes };
}

async function auditPatiently(
  slice: BlockRange,
  parts: AuditParts,
): Promise<Exclude<Verdict, { kind: "unread" }>> {
  for (let tries = 1; ; tries += 1) {
    const verdict = await auditRange(slice, parts);
    if (verdict.kind !== "unread") return verdict;
    const silence = `the nodes do not report blocks ${slice.from} to ${slice.to}: ${verdict.reason}`;
    if (tries >= auditLimits.commandTriesMax) throw new AppError("SERVICE_UNAVAILABLE", silence);
    // Explains why nothing happens for a minute.
    if (tries === 1) process.stderr.write(`oddwire: ${silence}; asking again for a minute\n`);
    await delay(auditLimits.commandPauseMs);
  }
}

function getRange(options: RangeOptions, coverage: Coverage): BlockRange {
  const covered = { from: coverage.fromBlock, to: coverage.last.number };
  const from = toBlock(options, "from") ?? covered.from;
  const to = toBlock(options, "to") ?? covered.to;
  const isStored = (block: number) => block >= covered.from && block <= covered.to;
  if (!isStored(from) || !isStored(to)) {
    const stored = `blocks ${covered.from} to ${covered.to} are stored`;
    throw new UsageError(`--from and --to have to be within what is stored: ${stored}`);
  }
  if (from > to) throw new UsageError(`--from ${from} is after --to ${to}`);
  return { from, to };
}

function toBlock(options: RangeOptions, name: "from" | "to"): number | null {
  const text = options[name];
  if (text === undefined) return null;
  if (!/^[0-9]{1,15}$/.test(text)) throw new UsageError(`--${name} is a block number`);
  return Number(text);
}
