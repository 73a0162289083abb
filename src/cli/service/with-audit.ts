import { setTimeout as delay } from "node:timers/promises";
import { type Config, readConfig } from "../../base/config/config.ts";
import { auditLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { openLog } from "../../base/log.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import { ChainSource, type ChainSourceOptions } from "../../chain/sync/chain-source.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { type AuditParts, auditRange, type Verdict } from "../../feed/audit-range.ts";
import { rereadFacts } from "../../feed/reread-facts.ts";
import { readContracts } from "../../roles/read-contracts.ts";
import { lockDataFolder, readStartBlock, refuseUnidentified } from "../../storage/data-folder.ts";
import { openFolder } from "../../storage/embedded/open-folder.ts";
import { FactStore } from "../../storage/fact-store.ts";
import {
  type CommittedFacts,
  openExistingDatabase,
  serverPlaceOf,
} from "../../storage/server/open-database.ts";
import { dropMarketsFile } from "../../views/disk/markets-file.ts";
import { UsageError } from "../command.ts";

/** The parts that `check` and `repair` work with. */
export type AuditCommandParts = {
  readonly dataDir: string;
  readonly store: CommittedFacts;
  /** The requested range, which is within the coverage. */
  readonly range: BlockRange;
  /** Reads a slice again and compares it. Retries while no node answers, then throws `SERVICE_UNAVAILABLE`. */
  readonly audit: (slice: BlockRange) => Promise<Exclude<Verdict, { kind: "unread" }>>;
};

/** The options for the range of blocks. By default all stored blocks. */
export type RangeOptions = { readonly from?: string; readonly to?: string };

/** Blocks that are read again and compared at a time. Bounds the memory, and the blocks of one repair. */
const sliceBlocks = 500;

/**
 * Opens the configured store and nodes, and passes them to `work`. A server is only read unless `isWriting`. Throws
 * `DataFolderBusyError` while another process uses the data folder, unless a server is only read.
 */
export async function withAudit<Result>(
  options: RangeOptions & { readonly isWriting?: boolean },
  work: (parts: AuditCommandParts) => Promise<Result>,
): Promise<Result> {
  const config = readConfig("serve");
  const contracts = await readContracts(config.contractsFile);
  const { dataDir } = config;
  await using opened = new AsyncDisposableStack();
  const isWriting = options.isWriting ?? false;
  // A server may be read while a service serves from it.
  if (isWriting || config.clickhouseUrl === null) opened.defer(lockDataFolder(dataDir));
  const startedAt = await readStartBlock({ config, contracts });
  const store = await openStore({ config, contracts, startedAt, isWriting }, opened);
  const range = rangeOf(options, store);
  const parts = await openNodes({ config, contracts, store }, opened);
  return await work({ dataDir, store, range, audit: (slice) => auditPatiently(slice, parts) });
}

async function openStore(
  parts: {
    readonly config: Config;
    readonly contracts: Contracts;
    readonly startedAt: number | null;
    readonly isWriting: boolean;
  },
  opened: AsyncDisposableStack,
): Promise<CommittedFacts> {
  const { config, contracts, startedAt, isWriting } = parts;
  const { dataDir } = config;
  const isServer = config.clickhouseUrl !== null;
  const read = isServer
    ? await openExistingDatabase(serverPlaceOf(config, contracts), reportWaiting)
    : null;
  if (read !== null && !isWriting) {
    opened.defer(() => read.engine.close());
    return read;
  }
  const engine = read?.engine ?? (await openFolder(dataDir));
  const dropCopies = () => dropMarketsFile(dataDir);
  const store = await FactStore.open(engine, { dropCopies, mayMissRows: true });
  opened.defer(() => store.close());
  const { coverage } = store;
  if (!isServer) refuseUnidentified(dataDir, { startedAt, coverage });
  // A repair deletes rows too, so the trim must have finished.
  await store.pendingTrim;
  return store;
}

function reportWaiting(reason: string): void {
  process.stderr.write(`oddwire: waiting for the facts: ${reason}\n`);
}

/** Splits a range into slices of `sliceBlocks`, in order. */
export function* slicesOf({ from, to }: BlockRange): Generator<BlockRange, void, undefined> {
  for (let next = from; next <= to; next += sliceBlocks) {
    yield { from: next, to: Math.min(to, next + sliceBlocks - 1) };
  }
}

async function openNodes(
  parts: { readonly config: Config; readonly contracts: Contracts; readonly store: CommittedFacts },
  opened: AsyncDisposableStack,
): Promise<AuditParts> {
  const { config, contracts, store } = parts;
  const decoder = new LogDecoder(contracts);
  const options: ChainSourceOptions = {
    urls: config.rpcUrls,
    callsPerSecondMax: config.rpcCallsPerSecond,
    chainId: config.chainId,
    startBlock: "latest",
    filter: decoder.filter,
    log: openLog({ level: "error" }),
  };
  const source = await ChainSource.open(options, ({ blocks }) => blocks);
  opened.defer(() => source.close());
  return {
    engine: store.engine,
    endpoints: config.rpcUrls.length,
    reread: (request) => rereadFacts({ source, decoder }, request),
  };
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

function rangeOf(options: RangeOptions, { coverage }: CommittedFacts): BlockRange {
  if (coverage === null) throw new AppError("NOT_FOUND", "nothing is stored yet");
  const covered = { from: coverage.fromBlock, to: coverage.last.number };
  const from = blockOf(options, "from") ?? covered.from;
  const to = blockOf(options, "to") ?? covered.to;
  const isStored = (block: number) => block >= covered.from && block <= covered.to;
  if (!isStored(from) || !isStored(to)) {
    const stored = `blocks ${covered.from} to ${covered.to} are stored`;
    throw new UsageError(`--from and --to have to be within what is stored: ${stored}`);
  }
  if (from > to) throw new UsageError(`--from ${from} is after --to ${to}`);
  return { from, to };
}

function blockOf(options: RangeOptions, name: "from" | "to"): number | null {
  const text = options[name];
  if (text === undefined) return null;
  if (!/^[0-9]{1,15}$/.test(text)) throw new UsageError(`--${name} is a block number`);
  return Number(text);
}
