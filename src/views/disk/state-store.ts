/**
 * Where the state of the markets stands: values by key on tables, and columns of numbers. Either
 * in memory alone, or with a copy on a disk from which a start goes on.
 */
import { Column, type ColumnKind } from "./column.ts";

/** How the values of a table are written down. */
export type Codec<Value> = {
  readonly encode: (value: Value) => string;
  readonly decode: (text: string) => Value;
};

/** Values by key. What is put on it or taken from it must not be changed in place. */
export type StateTable<Key, Value> = {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  /** Makes other values of those there are, immediately or when they are asked for. */
  updateAll(changes: ValueChanges<Key, Value>): void;
  delete(key: Key): void;
};

/** What becomes of many values, none of which has to be looked up before it is asked for. */
export type ValueChanges<Key, Value> = {
  /** Changes are known by numbers below it. */
  readonly length: number;
  /** The number of what becomes of a value; -1 where it stays. */
  find(key: Key): number;
  /** Of whose value it is; `null` where nothing has that number. */
  keyAt(number: number): Key | null;
  /** What becomes of a value, which is asked once. */
  change(number: number, key: Key, before: Value | undefined): Value;
};

export type StateStore = {
  /**
   * The table of that name, to be asked for once; keys are `0x` hex. Without a codec, JSON. Names that are
   * the same up to a dot are of tables that are asked for the same keys, one behind the other.
   */
  table<Key extends string, Value>(name: string, codec?: Codec<Value>): StateTable<Key, Value>;
  /** The column of that name as it was saved last, to be asked for once. */
  column<Kind extends ColumnKind>(name: string, kind: Kind): Column<Kind>;
  /** The block through which it was saved last; `null` when it is empty. */
  readonly savedThrough: number | null;
  /** Whether it is time to save; saving takes some time. */
  readonly isDue: boolean;
  /** Keeps everything as it is now, which is what the blocks up to `through` have reported. */
  save(through: number): void;
};

/** Values for as long as someone holds them. */
export class MemoryStateTable<Key, Value>
  extends Map<Key, Value>
  implements StateTable<Key, Value>
{
  updateAll(changes: ValueChanges<Key, Value>): void {
    for (let number = 0; number < changes.length; number += 1) {
      const key = changes.keyAt(number);
      if (key !== null) this.set(key, changes.change(number, key, this.get(key)));
    }
  }
}

/** Keeps everything for as long as the process lives. */
export class MemoryStateStore implements StateStore {
  readonly isDue = false;
  readonly savedThrough: number | null;

  constructor(savedThrough: number | null = null) {
    this.savedThrough = savedThrough;
  }

  table<Key extends string, Value>(): StateTable<Key, Value> {
    return new MemoryStateTable<Key, Value>();
  }

  column<Kind extends ColumnKind>(_name: string, kind: Kind): Column<Kind> {
    return new Column(kind);
  }

  save(): void {
    // Nothing outlives the process.
  }
}
