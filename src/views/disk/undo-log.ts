/**
 * Undo for state that unfinalized blocks have changed. Each change to a `JournaledMap` or a column is
 * recorded under the block being applied, with the value it replaced. A revert restores these values,
 * newest first. Final blocks are applied outside of `record`, so their changes are not recorded.
 */
import type { Column } from "./column.ts";

type RecordedChange = { readonly undo: () => void; readonly redo: () => void };

export class UndoLog {
  readonly #blocks: { readonly number: number; readonly changes: RecordedChange[] }[] = [];
  #recording = false;

  /** Applies a block that a reorg can revert. Its changes are recorded until it is final. */
  record(blockNumber: number, apply: () => void): void {
    this.#blocks.push({ number: blockNumber, changes: [] });
    this.amend(apply);
  }

  /** Makes changes that no block has caused. They are reverted with the newest recorded block, if there is one. */
  amend(apply: () => void): void {
    this.#recording = this.#blocks.length > 0;
    try {
      apply();
    } finally {
      this.#recording = false;
    }
  }

  get changeCount(): number {
    return this.#blocks.reduce((sum, { changes }) => sum + changes.length, 0);
  }

  /** Whether changes are recorded at all: within `record` and `amend`. */
  get isRecording(): boolean {
    return this.#recording;
  }

  /** Records a change, so that it can be reverted. Does nothing outside `record` and `amend`. */
  addChange(change: RecordedChange): void {
    if (this.#recording) this.#blocks.at(-1)?.changes.push(change);
  }

  setAt(column: Column, index: number, value: number): void {
    const before = column.get(index);
    if (before === value) return;
    this.addChange({
      undo: () => column.set(index, before),
      redo: () => column.set(index, value),
    });
    column.set(index, value);
  }

  revertTo(safeBlock: number): void {
    for (;;) {
      const newest = this.#blocks.at(-1);
      if (newest === undefined || newest.number <= safeBlock) return;
      for (const { undo } of newest.changes.toReversed()) undo();
      this.#blocks.pop();
    }
  }

  /** Undoes the recorded blocks, does some work in the state without them, and applies them again. */
  withoutRecorded(work: () => void): void {
    for (const { changes } of this.#blocks.toReversed()) {
      for (const { undo } of changes.toReversed()) undo();
    }
    try {
      work();
    } finally {
      for (const { changes } of this.#blocks) for (const { redo } of changes) redo();
    }
  }

  /** Forgets how to undo the blocks up to and including `block`: they are final. */
  finalizeThrough(block: number): void {
    const kept = this.#blocks.findIndex((recorded) => recorded.number > block);
    this.#blocks.splice(0, kept === -1 ? this.#blocks.length : kept);
  }
}
