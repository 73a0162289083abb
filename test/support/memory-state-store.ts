import { Column, type ColumnKind } from "../../src/views/disk/column.ts";
import type { StateStore, StateTable } from "../../src/views/disk/state-store.ts";
import { UndoLog } from "../../src/views/disk/undo-log.ts";

/** A state store without a copy on disk. */
export class MemoryStateStore implements StateStore {
  readonly journal = new UndoLog();
  readonly isDue = false;
  readonly savedThrough: number | null;

  constructor(savedThrough: number | null = null) {
    this.savedThrough = savedThrough;
  }

  table<Key extends string, Value>(_name: string): StateTable<Key, Value> {
    return new Map<Key, Value>();
  }

  column<Kind extends ColumnKind>(_name: string, kind: Kind): Column<Kind> {
    return new Column(kind);
  }

  save(): void {
    // Nothing outlives the process.
  }
}
