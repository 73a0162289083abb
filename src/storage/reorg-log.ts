import { storeLimits } from "../base/config/limits.ts";
import { blockNumberOf, firstSeqOf, type Seq } from "../base/ids.ts";
import type { BlockRange } from "../chain/raw-log.ts";
import { RowWriter } from "./codec/row-writer.ts";
import type { Engine } from "./engine/engine.ts";
import { untilAdmitted } from "./until-admitted.ts";

/**
 * The blocks that were served before they were final and may have been replaced since. A client that
 * resumes from one of them has to rewind to the block before. Outlives the process: what an earlier
 * one served above finality is bounded by a row that was written first.
 */
export class ReorgLog {
  readonly #engine: Engine;
  /** Oldest first. */
  #replaced: readonly BlockRange[];
  /** Up to here blocks may be served before they are final: it is written down. */
  #servableTo: number;
  #written: Promise<void> = Promise.resolve();

  private constructor(engine: Engine, replaced: readonly BlockRange[], servableTo: number) {
    this.#engine = engine;
    this.#replaced = merged(replaced);
    this.#servableTo = servableTo;
  }

  /** `finalBlock` is the last one stored; -1 without one. */
  static async open(engine: Engine, finalBlock: number): Promise<ReorgLog> {
    const [head] = await engine.query("SELECT maxOrNull(to_block) FROM served_heads");
    const rows = await engine.query(
      "SELECT from_block, to_block FROM reorgs ORDER BY to_block, from_block",
    );
    const replaced = rows.map(([from, to]) => ({ from: Number(from), to: Number(to) }));
    const servableTo = Number(head?.[0] ?? -1);
    const log = new ReorgLog(engine, replaced, servableTo);
    log.add({ from: finalBlock + 1, to: servableTo });
    return log;
  }

  /** Resolves once `block` may be served before it is final. */
  async reserve(block: number): Promise<void> {
    if (block <= this.#servableTo) return;
    const to = block + storeLimits.servableBlocksAhead;
    const row = new RowWriter().uint64(to).finish();
    await untilAdmitted(() => this.#engine.insert("served_heads", row, `served_heads:${to}`));
    this.#servableTo = to;
  }

  /** These blocks are about to be replaced. */
  add({ from, to }: BlockRange): void {
    if (this.#replaced.some((known) => known.from <= from && to <= known.to) || to < from) return;
    this.#replaced = merged([...this.#replaced, { from, to }]);
    const row = new RowWriter().uint64(from).uint64(to).finish();
    const token = `reorgs:${from}-${to}`;
    this.#written = this.#written.then(() =>
      untilAdmitted(() => this.#engine.insert("reorgs", row, token)),
    );
    // `written` rejects with the error.
    this.#written.catch(() => {});
  }

  /**
   * Resolves when all of it is durable; to be awaited before blocks are stored as final: until then a
   * start takes everything above them for replaced.
   */
  get written(): Promise<void> {
    return this.#written;
  }

  /** The position up to which everything served at `position` is still on the chain. */
  certainPosition(position: number): number {
    const block = blockNumberOf(position as Seq);
    const firsts = this.#replaced.flatMap(({ from, to }) =>
      from <= block && block <= to ? [firstSeqOf(from) - 1] : [],
    );
    return Math.min(position, ...firsts);
  }
}

/** No more than are kept in memory: a client that rewinds too far only has a longer replay. */
function merged(ranges: readonly BlockRange[]): readonly BlockRange[] {
  const excess = ranges.length - storeLimits.reorgsRemembered;
  if (excess <= 0) return ranges;
  const oldest = ranges.slice(0, excess + 1);
  const one = oldest.reduce((a, b) => ({
    from: Math.min(a.from, b.from),
    to: Math.max(a.to, b.to),
  }));
  return [one, ...ranges.slice(excess + 1)];
}
