import { storeLimits } from "../../base/config/limits.ts";
import { type Seq, toBlockNumber, toFirstSeq } from "../../base/ids.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import { RowWriter } from "../codec/row-writer.ts";
import type { Engine } from "../engine/engine.ts";
import { untilAdmitted } from "../engine/until-admitted.ts";

/**
 * The blocks that were served before they were final and may have been replaced since. A client that
 * resumes from one of them has to rewind to the block before. The log is durable: before a process serves
 * an unfinalized block, it stores a row that bounds the blocks it may serve.
 */
export class ReorgLog {
  /** `null` when another process writes the log. */
  readonly #engine: Engine | null;
  #replaced: readonly BlockRange[];
  /** The last block that may be served before it is final: a stored row covers it. */
  #servableTo: number;
  #pendingWrites: Promise<void> = Promise.resolve();

  private constructor(engine: Engine | null, replaced: readonly BlockRange[], servableTo: number) {
    this.#engine = engine;
    this.#replaced = merged(replaced);
    this.#servableTo = servableTo;
  }

  /**
   * Opens the log for the process that writes it. `finalBlock` is the last stored block; -1 without one. Blocks served
   * above it count as replaced. With `isServedKnown` they do not: the caller compares them with what it indexes.
   */
  static async open(
    engine: Engine,
    { finalBlock, isServedKnown }: { finalBlock: number; isServedKnown: boolean },
  ): Promise<ReorgLog> {
    const [head] = await engine.query("SELECT maxOrNull(to_block) FROM served_heads");
    const servableTo = Number(head?.[0] ?? -1);
    const log = new ReorgLog(engine, await readReplaced(engine), servableTo);
    if (!isServedKnown) log.add({ from: finalBlock + 1, to: servableTo });
    return log;
  }

  /** Reads the log that another process writes. Ranges that are added here are kept in memory only. */
  static async read(engine: Engine): Promise<ReorgLog> {
    return new ReorgLog(null, await readReplaced(engine), Number.MAX_SAFE_INTEGER);
  }

  async refresh(engine: Engine): Promise<void> {
    const written = await readReplaced(engine);
    const names = new Set(written.map(getName));
    const local = this.#replaced.filter((range) => !names.has(getName(range)));
    this.#replaced = merged([...written, ...local]);
  }

  /** Resolves once `block` may be served before it is final. */
  async reserve(block: number): Promise<void> {
    const engine = this.#engine;
    if (block <= this.#servableTo || engine === null) return;
    const to = block + storeLimits.servableBlocksAhead;
    const row = new RowWriter().uint64(to).finish();
    // A duplicate row does no harm, so the insert needs no token.
    await untilAdmitted(() => engine.insert("served_heads", row));
    this.#servableTo = to;
  }

  add({ from, to }: BlockRange): void {
    if (this.#replaced.some((range) => range.from <= from && to <= range.to) || to < from) return;
    this.#replaced = merged([...this.#replaced, { from, to }]);
    const engine = this.#engine;
    if (engine === null) return;
    const row = new RowWriter().uint64(from).uint64(to).finish();
    this.#pendingWrites = this.#pendingWrites.then(() =>
      untilAdmitted(() => engine.insert("reorgs", row)),
    );
    // Callers that await `pendingWrites` get the error.
    this.#pendingWrites.catch(() => {});
  }

  /** Resolves when all added ranges are durable. Must be awaited before blocks are stored as final. */
  get pendingWrites(): Promise<void> {
    return this.#pendingWrites;
  }

  /** Returns the newest position, at most `position`, up to which everything served is still on the chain. */
  certainPosition(position: number): number {
    const block = toBlockNumber(position as Seq);
    const firsts = this.#replaced.flatMap(({ from, to }) =>
      from <= block && block <= to ? [toFirstSeq(from) - 1] : [],
    );
    return Math.min(position, ...firsts);
  }
}

async function readReplaced(engine: Engine): Promise<readonly BlockRange[]> {
  const rows = await engine.query(
    "SELECT from_block, to_block FROM reorgs ORDER BY to_block, from_block",
  );
  return rows.map(([from, to]) => ({ from: Number(from), to: Number(to) }));
}

function getName({ from, to }: BlockRange): string {
  return `${from} ${to}`;
}

/** Merges the oldest ranges when there are more than `reorgsRemembered`: their clients only replay more than needed. */
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
