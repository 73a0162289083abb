/** Makes data directories and reports permanent problems immediately. */
import { accessSync, constants, existsSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AppError } from "../errors.ts";
import { ConfigError } from "./config.ts";

const { F_OK, R_OK, W_OK, X_OK } = constants;

/** Files in the directory that SQLite opens, and that may not exist yet. */
const databases: readonly string[] = ["access.sqlite", "lock", "markets.sqlite"];

/** The endings of the files that SQLite opens next to a database. */
const sideFiles: readonly string[] = ["-journal", "-shm", "-wal"];

/** Codes of errors that do not go away without the operator. */
const impossible: ReadonlySet<string> = new Set(
  "EACCES EEXIST EINVAL ELOOP ENAMETOOLONG ENOENT ENOTDIR EPERM EROFS".split(" "),
);

/**
 * Makes the data directory unless it exists. Throws `ConfigError` when the directory cannot exist there or cannot be used.
 * It is unusable when it or its facts are not writable: the engine would take that for damage. It is also unusable
 * when something else has the name of one of its files. Other errors, such as a full disk, can be temporary and are
 * thrown as they are.
 */
export function makeDataDirectory(dataDir: string, mode?: number): void {
  orUnusable(() => {
    makeFolder(resolve(dataDir), mode);
    accessSync(dataDir, W_OK);
  });
  checkKept(join(dataDir, "facts"), "folder", R_OK | W_OK | X_OK);
  for (const path of databases.map((name) => join(dataDir, name))) {
    checkKeptFile(path, R_OK | W_OK);
    // Only what they are: another process can delete them at any moment.
    for (const ending of sideFiles) checkKeptFile(`${path}${ending}`, F_OK);
  }
  for (const name of ["oddwire.json", "audit.json"]) checkKeptFile(join(dataDir, name));
}

/**
 * Checks a data directory for a command that only reads its facts: nothing is made. Throws `NOT_FOUND` when it has none,
 * and `ConfigError` when it cannot be used.
 */
export function requireFacts(dataDir: string): void {
  if (!existsSync(dataDir))
    throw new AppError("NOT_FOUND", `the data directory ${dataDir} does not exist`);
  makeDataDirectory(dataDir);
  if (!existsSync(join(dataDir, "facts"))) throw new AppError("NOT_FOUND", "nothing is stored yet");
}

/**
 * Throws `ConfigError` when a path in the data directory exists but cannot be opened with this `access`, or is not a
 * file. To open a pipe, for example, can block the process. `F_OK` means any.
 */
export function checkKeptFile(path: string, access: number = R_OK): void {
  checkKept(path, "file", access);
}

function checkKept(path: string, kind: "file" | "folder", access: number): void {
  orUnusable(() => {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined) return;
    // The target of a link can be missing.
    const kept = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry;
    if ((kind === "file" ? kept?.isFile() : kept?.isDirectory()) !== true) {
      const advice = "restore a backup, or start with an empty data directory";
      throw unusable(`${path} is not a ${kind}; ${advice}`);
    }
    if (access !== F_OK) accessSync(path, access);
  });
}

/** Makes a folder and its parents unless it exists. Node's `recursive` option never returns below /proc, where nothing can be made. */
export function makeFolder(path: string, mode?: number): void {
  const make = () => mkdirSync(path, mode);
  try {
    make();
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "EEXIST" && statSync(path).isDirectory()) return;
    if (code !== "ENOENT" || dirname(path) === path) throw thrown;
    makeFolder(dirname(path), mode);
    make();
  }
}

function orUnusable(work: () => void): void {
  try {
    work();
  } catch (thrown) {
    if (!isPermanent(thrown)) throw thrown;
    throw unusable(thrown.message);
  }
}

/** Whether a failure does not go away without the operator. */
export function isPermanent(thrown: unknown): thrown is Error {
  return impossible.has((thrown as NodeJS.ErrnoException).code ?? "");
}

function unusable(reason: string): ConfigError {
  return new ConfigError([`ODDWIRE_DATA_DIR cannot be used: ${reason}`]);
}
