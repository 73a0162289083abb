import { assert } from "../base/assert.ts";
import { storeLimits } from "../base/limits.ts";
import type { BlockFacts } from "../market/block-facts.ts";
import { encodeFacts, type Stretch } from "./encode-facts.ts";
import type { FactStore } from "./fact-store.ts";

type Pending = { readonly stretch: Stretch; readonly blocks: readonly BlockFacts[] };

/**
 * Appends final blocks by group commit: what arrives while an append is under way is appended
 * together by the next one. An append costs some fsyncs whatever its size, so nodes that allow
 * only small ranges would otherwise be waiting for the disk.
 */
export class FinalWriter {
  readonly #store: FactStore;
  readonly #onAppended: (stretch: Stretch, blocks: readonly BlockFacts[]) => void;
  #pending: Pending[] = [];
  #pendingRows = 0;
  #writing: Promise<void> | null = null;

  /** `onAppended` is called in chain order, each time once the blocks are durable. */
  constructor(
    store: FactStore,
    onAppended: (stretch: Stretch, blocks: readonly BlockFacts[]) => void,
  ) {
    this.#store = store;
    this.#onAppended = onAppended;
  }

  /**
   * Takes the blocks that follow. Resolves at once while there is room, else when the append under
   * way is done; rejects with what an earlier append failed of.
   */
  async write(stretch: Stretch, blocks: readonly BlockFacts[]): Promise<void> {
    this.#pending.push({ stretch, blocks });
    this.#pendingRows += blocks.reduce((sum, block) => sum + rowsOf(block), 0);
    this.#writing ??= this.#writeAll();
    if (this.#pendingRows >= storeLimits.pendingRowsMax) await this.drain();
    // A failed append must reach the caller even when there is always room.
    else await Promise.race([this.#writing, Promise.resolve()]);
  }

  /** Resolves when everything taken is durable. */
  async drain(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const group = this.#pending;
      this.#pending = [];
      this.#pendingRows = 0;
      const [first, last] = [group[0]?.stretch, group.at(-1)?.stretch];
      assert(first !== undefined && last !== undefined, "a group has a first and a last stretch");
      const stretch = { fromBlock: first.fromBlock, toBlock: last.toBlock, last: last.last };
      const blocks = group.flatMap((part) => part.blocks);
      await this.#store.append(encodeFacts(stretch, blocks));
      this.#onAppended(stretch, blocks);
    }
    this.#writing = null;
  }
}

function rowsOf({ fills, events, quarantined }: BlockFacts): number {
  return fills.length + events.length + quarantined.length;
}
