import { toError } from "../../base/errors.ts";

/** What is wrong with a store as a whole; not with the engines, which not everything that throws these may load. */

/** The data folder is in use by another process; start again when that one has stopped. */
export class DataFolderBusyError extends Error {
  override name = "DataFolderBusyError";
}

/** The data folder, or a database of a server, holds what no crash leaves behind; the message says what to do. */
export class StoreDamagedError extends Error {
  override name = "StoreDamagedError";

  constructor(what: string, options: { readonly cause?: unknown } = {}) {
    super(`${what}; restore a backup, or start with an empty data folder or database`, options);
  }
}

/** Nothing can be written to the data folder at present, as when its disk is full. */
export class DataFolderUnwritableError extends Error {
  override name = "DataFolderUnwritableError";
}

/** What writing answers. Rejects with `DataFolderUnwritableError` when it fails. */
export async function written<Result>(writing: Promise<Result>): Promise<Result> {
  try {
    return await writing;
  } catch (cause) {
    throw new DataFolderUnwritableError(
      `the data folder cannot be written: ${reasonOf(toError(cause))}`,
      { cause },
    );
  }
}

/** What the engine says between its codes, which it repeats. */
export function reasonOf({ message }: Error): string {
  const [, reason] = /DB::\w*Exception: (?!Code: )([^(]+)/.exec(message) ?? [];
  return (reason ?? message).trim().replace(/[.:,]$/, "");
}
