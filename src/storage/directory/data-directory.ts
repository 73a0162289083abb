import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Config, ConfigError } from "../../base/config/config.ts";
import { makeDataDirectory } from "../../base/config/make-data-directory.ts";
import { isJsonObject } from "../../base/json.ts";
import type { Coverage } from "../../chain/raw-log.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { DataDirectoryBusyError, StoreDamagedError } from "../engine/store-errors.ts";
import { isDamaged, isLocked, withDisk } from "../sqlite/sqlite-failure.ts";
import { type FactsIdentity, refuseOtherFacts, toIdentity } from "./identity.ts";
import { readJsonFile, writeJsonFile } from "./json-file.ts";

/** The version of the stored rows. Raise it when their format changes. */
const format = 7;

type FolderIdentity = FactsIdentity & {
  readonly format: number;
  /** The first indexed block, stored before it is final; absent when the facts of a server were there first. */
  readonly start_block?: number;
};

/**
 * Locks a data directory, which is created if missing, for a process that serves, indexes, checks or repairs. Returns a
 * function that unlocks it; the system does so when the process ends. Throws `ConfigError`, `DataDirectoryBusyError` and
 * `DataDirectoryUnwritableError`.
 */
export function lockDataDirectory(dataDir: string): () => void {
  makeDataDirectory(dataDir);
  return lockFolder(dataDir, {
    variable: "ODDWIRE_DATA_DIR",
    busy: `another process is using the data directory ${dataDir}; stop it, or set another ODDWIRE_DATA_DIR`,
  });
}

/** What messages call a folder: the variable or option, what to do when it is locked, and its name when its disk fails. */
type FolderLock = { readonly variable: string; readonly busy: string; readonly location?: string };

/**
 * Locks an existing directory. Returns a function that unlocks it. Throws `DataDirectoryBusyError` with the message `busy`, and
 * `ConfigError` when the file of the lock is something else.
 */
export function lockFolder(folder: string, { variable, busy, location }: FolderLock): () => void {
  const path = join(folder, "lock");
  // Node has no file locks of its own. Nothing is written: the file stays empty.
  const lock = withDisk(() => new DatabaseSync(path), location);
  try {
    withDisk(() => lock.exec("BEGIN EXCLUSIVE"), location);
    return () => lock.close();
  } catch (cause) {
    lock.close();
    if (isDamaged(cause)) {
      throw new ConfigError([`${variable} cannot be used: ${path} is not empty; delete it`]);
    }
    if (!isLocked(cause)) throw cause;
    throw new DataDirectoryBusyError(busy, { cause });
  }
}

/** A data directory, and the chain and the contracts that it is tied to. */
type FolderOwner = {
  readonly config: Pick<Config, "chainId" | "dataDir">;
  readonly contracts: Contracts;
};

/**
 * Makes a data directory if it is missing. Returns the block that indexing started with; `null` before the first. Throws
 * `ConfigError` when the directory is tied to another chain or other contracts or cannot be created, and
 * `StoreDamagedError`. Nothing in the directory changes.
 */
export async function readStartBlock({
  config: { chainId, dataDir },
  contracts,
}: FolderOwner): Promise<number | null> {
  makeDataDirectory(dataDir);
  const stored = await readJsonFile(identityIn(dataDir), { isValid: isIdentity });
  if (stored === null) return null;
  if (stored.format !== format) {
    throw new ConfigError([
      `${dataDir} is of format ${stored.format}, this version reads format ${format}; index again: use another ODDWIRE_DATA_DIR, or delete all in it but access.sqlite* and pepper`,
    ]);
  }
  const expected = toIdentity(chainId, contracts);
  refuseOtherFacts(stored, expected, { location: dataDir, setting: "ODDWIRE_DATA_DIR" });
  return stored.start_block ?? null;
}

/**
 * Ties a data directory durably to a chain and a list of contracts. Call this once it is known that they fit, before the
 * first block is served. Until blocks are final, nothing else records `startBlock`, where indexing started. Throws
 * `DataDirectoryUnwritableError`.
 */
export async function tieDataDirectory(
  { config: { chainId, dataDir }, contracts }: FolderOwner,
  startBlock: number | null,
): Promise<void> {
  const start = startBlock === null ? {} : { start_block: startBlock };
  const identity: FolderIdentity = { format, ...toIdentity(chainId, contracts), ...start };
  await writeJsonFile(identityIn(dataDir), identity);
}

/**
 * Refuses a directory whose tables have facts although no start block is recorded: `oddwire.json` is lost, and nothing else
 * says which chain and contracts they are from. Throws `StoreDamagedError`.
 */
export function refuseUnidentified(
  dataDir: string,
  {
    startedAt,
    coverage,
  }: { readonly startedAt: number | null; readonly coverage: Coverage | null },
): void {
  if (startedAt !== null || coverage === null) return;
  throw new StoreDamagedError(
    `${identityIn(dataDir)} is missing or incomplete, but the directory has facts`,
  );
}

function identityIn(dataDir: string): string {
  return join(dataDir, "oddwire.json");
}

/** The fields of another format are not known. */
function isIdentity(value: unknown): value is FolderIdentity {
  if (!isJsonObject(value)) return false;
  const { chain_id: chainId, contracts, events, start_block: start = 0 } = value;
  if (!isCount(value["format"]) || !isCount(start)) return false;
  const hasOwner = isCount(chainId) && typeof contracts === "string" && typeof events === "string";
  return hasOwner || value["format"] !== format;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
