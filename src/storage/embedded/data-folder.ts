import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import { ConfigError } from "../../base/config/config.ts";
import { makeDataFolder } from "../../base/config/make-data-folder.ts";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { Coverage } from "../../chain/raw-log.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { awaitWrite, DataFolderBusyError } from "../engine/store-errors.ts";
import { type FactsIdentity, identityOf, refuseOtherFacts } from "../identity.ts";
import { isDamaged, isLocked, withDisk } from "../sqlite/sqlite-failure.ts";

/** The version of the stored rows. Raise it when their format changes. */
const format = 4;

type FolderIdentity = FactsIdentity & {
  readonly format: number;
  /** The first indexed block, stored before the block is final; absent before indexing has begun. */
  readonly start_block?: number;
};

/**
 * Locks a data folder, which is created if missing, for a process that serves, indexes, checks or repairs. Returns a
 * function that unlocks it; the system does so when the process ends. Throws `ConfigError`, `DataFolderBusyError` and
 * `DataFolderUnwritableError`.
 */
export function lockDataFolder(dataDir: string): () => void {
  makeDataFolder(dataDir);
  const path = join(dataDir, "lock");
  // Node has no file locks of its own. Nothing is written: the file stays empty.
  const lock = withDisk(() => new DatabaseSync(path));
  try {
    withDisk(() => lock.exec("BEGIN EXCLUSIVE"));
    return () => lock.close();
  } catch (cause) {
    lock.close();
    if (isDamaged(cause)) {
      throw new ConfigError([`ODDWIRE_DATA_DIR cannot be used: ${path} is not empty; delete it`]);
    }
    if (!isLocked(cause)) throw cause;
    const message = `another process is using the data folder ${dataDir}; stop it, or set another ODDWIRE_DATA_DIR`;
    throw new DataFolderBusyError(message, { cause });
  }
}

/**
 * Ties a data folder to a chain and a list of contracts on first use. Returns the block that indexing started
 * with; `null` before the first. Throws `ConfigError` when the folder belongs to another chain or other contracts
 * or cannot be created, and `DataFolderUnwritableError`.
 */
export async function claimDataFolder(
  dataDir: string,
  { chainId, contracts }: { chainId: number; contracts: Contracts },
): Promise<number | null> {
  makeDataFolder(dataDir);
  const path = identityIn(dataDir);
  const ours = { format, ...identityOf(chainId, contracts) };
  const known = await readIdentity(path);
  if (known === null) {
    await writeIdentity(path, ours, link);
    return null;
  }
  if (known.format !== ours.format) {
    throw new ConfigError([
      `${dataDir} is of format ${known.format}, this version reads format ${format}; index again: use another ODDWIRE_DATA_DIR, or delete all in it but access.sqlite* and pepper`,
    ]);
  }
  refuseOtherFacts(known, ours, { place: dataDir, setting: "ODDWIRE_DATA_DIR" });
  return known.start_block ?? null;
}

/**
 * Stores the first indexed block durably, before it is served: until blocks are final, nothing else in the folder
 * records where indexing started. Throws `DataFolderUnwritableError`.
 */
export async function recordStartBlock(dataDir: string, block: number): Promise<void> {
  const path = identityIn(dataDir);
  const known = await readIdentity(path);
  assert(known !== null, "a folder is claimed before it is indexed");
  await writeIdentity(path, { ...known, start_block: block }, rename);
}

/**
 * Refuses a folder whose tables have facts although it was claimed only now: `oddwire.json` is lost, and nothing else
 * says which chain and contracts they are from. Throws `ConfigError`.
 */
export function refuseUnidentified(
  dataDir: string,
  {
    startedAt,
    coverage,
  }: { readonly startedAt: number | null; readonly coverage: Coverage | null },
): void {
  if (startedAt !== null || coverage === null) return;
  throw new ConfigError([
    `${identityIn(dataDir)} is missing, but the folder has facts; restore it from a backup of the folder`,
  ]);
}

/** Unties a data folder in which nothing was indexed: its chain or contracts may have been a mistake. */
export async function releaseDataFolder(dataDir: string): Promise<void> {
  const path = identityIn(dataDir);
  if ((await readIdentity(path))?.start_block === undefined) await rm(path, { force: true });
}

/** Unties the folder again when `opening` throws `ConfigError`: a wrong setting must not stay in the folder. */
export async function releaseIfRefused<Opened>(
  dataDir: string,
  opening: Promise<Opened>,
): Promise<Opened> {
  try {
    return await opening;
  } catch (thrown) {
    if (thrown instanceof ConfigError) await releaseDataFolder(dataDir);
    throw thrown;
  }
}

function identityIn(dataDir: string): string {
  return join(dataDir, "oddwire.json");
}

async function readIdentity(path: string): Promise<FolderIdentity | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
  const identity = tryParseJson(text);
  if (isIdentity(identity)) return identity;
  throw new ConfigError([`${path} is damaged; restore it from a backup of the folder`]);
}

function isIdentity(value: unknown): value is FolderIdentity {
  if (!isJsonObject(value)) return false;
  const { start_block: start } = value;
  return start === undefined || (Number.isSafeInteger(start) && Number(start) >= 0);
}

/** Writes a draft, then moves it with `put`: the file appears completely or not at all, never damaged. */
async function writeIdentity(
  path: string,
  identity: FolderIdentity,
  put: typeof link | typeof rename,
): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await awaitWrite(writeFile(draft, `${JSON.stringify(identity)}\n`, { flush: true }));
    await awaitWrite(put(draft, path));
  } finally {
    await rm(draft, { force: true });
  }
}
