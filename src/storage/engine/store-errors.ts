import { toError } from "../../base/errors.ts";

/** Errors of a store as a whole, apart from the engines, so that code can throw them without loading an engine. */

/** Another process is using the data directory. */
export class DataDirectoryBusyError extends Error {
  override name = "DataDirectoryBusyError";
}

/** The data directory or database is in a state that no crash can leave. The message says what to do. */
export class StoreDamagedError extends Error {
  override name = "StoreDamagedError";

  constructor(what: string, options: ErrorOptions & { readonly advice?: string | undefined } = {}) {
    const { advice = "start with an empty data directory or database" } = options;
    super(`${what}; restore a backup, or ${advice}`, options);
  }
}

/** What Node, the engine, SQLite and this service say when a disk or a quota is full. */
const fullDisk = /no space left|not enough space|cannot reserve|is full|quota|MiB (?:is|are) free/i;

/** The data directory, or another location that is written, cannot be written: its disk fails or is full. */
export class DataDirectoryUnwritableError extends Error {
  override name = "DataDirectoryUnwritableError";
  readonly isDiskFull: boolean;

  constructor(
    reason: string,
    {
      location = "the data directory",
      cause,
    }: { readonly location?: string; readonly cause?: unknown } = {},
  ) {
    const isDiskFull = fullDisk.test(reason);
    const what = isDiskFull ? `the disk of ${location} is full` : `${location} cannot be written`;
    super(`${what}: ${reason}`, { cause });
    this.isDiskFull = isDiskFull;
  }
}

/** Awaits a write to a location. Rejects with `DataDirectoryUnwritableError` when it fails. */
export async function awaitWrite<Result>(
  writing: Promise<Result>,
  location?: string,
): Promise<Result> {
  try {
    return await writing;
  } catch (cause) {
    throw new DataDirectoryUnwritableError(getReason(toError(cause)), {
      cause,
      ...(location === undefined ? {} : { location }),
    });
  }
}

/** Returns the reason in an error message of the engine, without the repeated codes around it. */
export function getReason({ message }: Error): string {
  const [, reason] = /DB::\w*Exception: (?!Code: )([^(]+)/.exec(message) ?? [];
  return (reason ?? message).trim().replace(/[.:,]$/, "");
}
