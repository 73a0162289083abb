/**
 * Undo for state that blocks above finality have changed. Each change to a `JournaledMap` notes the
 * value it replaced under the block being applied; unwinding puts the values back, newest first.
 * Blocks applied while nothing is open, which are final, note nothing.
 */
export class Journal {
  readonly #blocks: { readonly number: number; readonly undos: (() => void)[] }[] = [];
  #recording = false;

  /** Applies a block that a fork may take back; its changes are noted until it is final. */
  record(blockNumber: number, apply: () => void): void {
    this.#blocks.push({ number: blockNumber, undos: [] });
    this.#recording = true;
    try {
      apply();
    } finally {
      this.#recording = false;
    }
  }

  /** Notes how to take one change back; does nothing outside `record`. */
  note(undo: () => void): void {
    if (this.#recording) this.#blocks.at(-1)?.undos.push(undo);
  }

  /** Takes back every recorded block above `safeBlock`. */
  unwindTo(safeBlock: number): void {
    for (;;) {
      const newest = this.#blocks.at(-1);
      if (newest === undefined || newest.number <= safeBlock) return;
      for (const undo of newest.undos.toReversed()) undo();
      this.#blocks.pop();
    }
  }

  /** Forgets how to undo the blocks up to and including `block`: they are final. */
  settleThrough(block: number): void {
    const kept = this.#blocks.findIndex((recorded) => recorded.number > block);
    this.#blocks.splice(0, kept === -1 ? this.#blocks.length : kept);
  }
}

/** A map whose changes the journal can take back. Values must not be changed in place. */
export class JournaledMap<Key, Value> {
  readonly #journal: Journal;
  readonly #map = new Map<Key, Value>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key);
  }

  set(key: Key, value: Value): void {
    const before = this.#map.get(key);
    this.#journal.note(() => {
      if (before === undefined) this.#map.delete(key);
      else this.#map.set(key, before);
    });
    this.#map.set(key, value);
  }

  keys(): IterableIterator<Key> {
    return this.#map.keys();
  }
}
