/** What is wrong with a data folder as a whole; apart from the engine, which not all that throw these may load. */

/** The data folder is in use by another process; start again when that one has stopped. */
export class DataFolderBusyError extends Error {
  override name = "DataFolderBusyError";
}

/** The data folder holds what no crash leaves behind; the message says what to do. */
export class DataFolderDamagedError extends Error {
  override name = "DataFolderDamagedError";

  constructor(what: string, options: { readonly cause?: unknown } = {}) {
    super(`${what}; restore a backup, or start with an empty data folder`, options);
  }
}

/** Nothing can be written to the data folder at present, as when its disk is full. */
export class DataFolderUnwritableError extends Error {
  override name = "DataFolderUnwritableError";
}
