import type { Codec, StateStore, StateTable } from "./state-store.ts";
import type { UndoLog } from "./undo-log.ts";

/** A table whose changes the journal can revert. Values must not be changed in place. */
export class JournaledMap<Key extends string, Value> {
  readonly #journal: UndoLog;
  readonly #table: StateTable<Key, Value>;

  constructor(
    stateStore: Pick<StateStore, "journal" | "table">,
    name: string,
    codec?: Codec<Value>,
  ) {
    this.#journal = stateStore.journal;
    this.#table = stateStore.table(name, codec);
  }

  get(key: Key): Value | undefined {
    return this.#table.get(key);
  }

  set(key: Key, value: Value): void {
    if (this.#journal.isRecording) this.#recordSet(key, value);
    this.#table.set(key, value);
  }

  #recordSet(key: Key, value: Value): void {
    const before = this.#table.get(key);
    this.#journal.addChange({
      undo: () => {
        if (before === undefined) this.#table.delete(key);
        else this.#table.set(key, before);
      },
      redo: () => this.#table.set(key, value),
    });
  }
}
