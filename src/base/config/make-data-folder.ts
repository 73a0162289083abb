/** Makes data folders, and says immediately what can never come right with one. Loads next to nothing. */
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "./config.ts";

const { R_OK, W_OK } = constants;

/** What is opened below the folder, and may not be there yet. */
const files: readonly string[] = ["access.sqlite", "audit.sqlite", "markets.sqlite"];

const impossible: ReadonlySet<string> = new Set(
  "EACCES EEXIST EINVAL ELOOP ENAMETOOLONG ENOENT ENOTDIR EPERM EROFS".split(" "),
);

/**
 * Makes the data folder unless it is there. Throws `ConfigError` where none can be, where nothing
 * may be written, which the engine takes for damage, or where something else has the name of a file of
 * it; all else that can go wrong, such as a full disk, passes on its own.
 */
export function makeDataFolder(dataDir: string, mode?: number): void {
  orUnusable(() => {
    makeFolder(resolve(dataDir), mode);
    accessSync(dataDir, W_OK);
  });
  for (const name of files) checkKeptFile(join(dataDir, name), R_OK | W_OK);
  checkKeptFile(join(dataDir, "oddwire.json"), R_OK);
}

/**
 * Throws `ConfigError` when a path of the data folder leads to something that is no file, which may
 * block the process that opens it, or to a file that may not be opened in that way.
 */
export function checkKeptFile(path: string, access: number = R_OK): void {
  orUnusable(() => {
    const known = statSync(path, { throwIfNoEntry: false });
    if (known === undefined) return;
    if (!known.isFile()) {
      throw unusable(`${path} is not a file; restore a backup, or start with an empty data folder`);
    }
    accessSync(path, access);
  });
}

/** Node's own way to make parents never ends below /proc, where nothing can be made. */
function makeFolder(path: string, mode: number | undefined): void {
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
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code === undefined || !impossible.has(code)) throw thrown;
    throw unusable(message);
  }
}

function unusable(reason: string): ConfigError {
  return new ConfigError([`ODDWIRE_DATA_DIR cannot be used: ${reason}`]);
}
