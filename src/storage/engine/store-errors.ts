import { toError } from "../../base/errors.ts";

/** Errors of a store as a whole, apart from the engines, so that code can throw them without loading an engine. */

/** Another process is using the data directory. Start again when it has stopped. */
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

/** The data directory cannot be written, for example because its disk is full. */
export class DataDirectoryUnwritableError extends Error {
  override name = "DataDirectoryUnwritableError";

  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(`the data directory cannot be written: ${reason}`, options);
  }
}

/** Awaits a write. Rejects with `DataDirectoryUnwritableError` when it fails. */
export async function awaitWrite<Result>(writing: Promise<Result>): Promise<Result> {
  try {
    return await writing;
  } catch (cause) {
    throw new DataDirectoryUnwritableError(getReason(toError(cause)), { cause });
  }
}

/** Returns the reason in an error message of the engine, without the repeated codes around it. */
export function getReason({ message }: Error): string {
  const [, reason] = /DB::\w*Exception: (?!Code: )([^(]+)/.exec(message) ?? [];
  return (reason ?? message).trim().replace(/[.:,]$/, "");
}
