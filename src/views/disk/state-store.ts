/**
 * What the state of the markets is made of: tables of values by key, and columns of numbers. Either in memory
 * alone, or with a copy on disk that a start goes on from.
 */
import { Column, type ColumnKind } from "./column.ts";

/** How the values of a table are stored. */
export type Codec<Value> = {
  readonly encode: (value: Value) => string;
  readonly decode: (text: string) => Value;
};

/** Values by key, which must not be changed in place. */
export type StateTable<Key, Value> = {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
};

export type StateStore = {
  /** The table of that name, asked for once; keys are `0x` hex. Names that are the same up to a dot share keys. */
  table<Key extends string, Value>(name: string, codec?: Codec<Value>): StateTable<Key, Value>;
  /** The column of that name as it was saved last, to be asked for once. */
  column<Kind extends ColumnKind>(name: string, kind: Kind): Column<Kind>;
  /** The block through which it was saved last; `null` when it is empty. */
  readonly savedThrough: number | null;
  /** Whether it is time to save; saving takes some time. */
  readonly isDue: boolean;
  /** Saves the current state, which is that after block `through`. */
  save(through: number): void;
};

/** Keeps everything for as long as the process lives. */
export class MemoryStateStore implements StateStore {
  readonly isDue = false;
  readonly savedThrough: number | null;

  constructor(savedThrough: number | null = null) {
    this.savedThrough = savedThrough;
  }

  table<Key extends string, Value>(): StateTable<Key, Value> {
    return new Map<Key, Value>();
  }

  column<Kind extends ColumnKind>(_name: string, kind: Kind): Column<Kind> {
    return new Column(kind);
  }

  save(): void {
    // Nothing outlives the process.
  }
}
