import type { Row } from "./columns.ts";

/** Makes a file of groups of rows, piece by piece. */
export type FileEncoder = {
  readonly begin: () => Uint8Array;
  readonly add: (rows: readonly Row[]) => Uint8Array;
  readonly end: () => Uint8Array;
};
