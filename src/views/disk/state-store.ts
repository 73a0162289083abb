/** The storage of the market state: tables of values by key, and columns of numbers. */
import type { Column, ColumnKind } from "./column.ts";
import type { UndoLog } from "./undo-log.ts";

/** How the values of a table are stored. */
export type Codec<Value> = {
  readonly encode: (value: Value) => string;
  readonly decode: (text: string) => Value;
};

/** Values by key. A value must not be changed in place. */
export type StateTable<Key, Value> = {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
};

export type StateStore = {
  /** The changes of unfinalized blocks. A save excludes them. */
  readonly journal: UndoLog;
  /** Returns a table, once for each name. Keys are `0x` hex. Tables named alike up to a dot are stored as one. */
  table<Key extends string, Value>(name: string, codec?: Codec<Value>): StateTable<Key, Value>;
  /** Returns a column as it was saved last, once for each name. */
  column<Kind extends ColumnKind>(name: string, kind: Kind): Column<Kind>;
  /** The last block of the copy with which the store was opened; `null` without a copy. */
  readonly savedThrough: number | null;
  /** Whether it is time to save. Saving takes a while, so it is not due after every block. */
  readonly isDue: boolean;
  /** Saves the current state, which is the state after block `through`. */
  save(through: number): void;
};
