import type { ConditionId, Hash, Seq } from "../../base/ids.ts";
import { lowerBound } from "../../base/lower-bound.ts";
import type { Resolution } from "../../market/market.ts";
import { type Column, idBytes, readId, writeId } from "../disk/column.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { Codec, StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";

/** Which results are requested. All given conditions have to hold. Times are in unix seconds; ends are exclusive. */
export type ResolutionRange = {
  readonly seqFrom?: number | undefined;
  readonly seqTo?: number | undefined;
  readonly timestampFrom?: number | undefined;
  readonly timestampTo?: number | undefined;
  readonly txHash?: Hash | undefined;
  readonly conditionIds?: ReadonlySet<ConditionId> | undefined;
};

/** From which index on, and in which direction, results are searched. */
type Walk = { readonly index: number; readonly step: 1 | -1 };

/**
 * The results of all conditions in chain order. The first result of a condition counts. Columns have
 * the order, and a table has the results.
 */
export class ResolutionLog {
  readonly #journal: UndoLog;
  readonly #byCondition: JournaledMap<ConditionId, Resolution>;
  /** The columns are ordered by position, then by condition: one log can have several results. */
  readonly #count: Column<"f64">;
  readonly #seqs: Column<"f64">;
  readonly #timestamps: Column<"u32">;
  /** The first 32 bits of each transaction hash, which rule out nearly all other transactions. */
  readonly #txTags: Column<"u32">;
  readonly #ids: Column<"u8">;
  /** 1 for the result of a mirror or its legacy condition, if the other had one before. Such results are not selected. */
  readonly #repeats: Column<"u8">;

  constructor(stateStore: StateStore) {
    this.#journal = stateStore.journal;
    this.#byCondition = new JournaledMap(stateStore, "market.resolution", resolutionCodec);
    this.#count = stateStore.column("resolutions.count", "f64");
    this.#seqs = stateStore.column("resolutions.seqs", "f64");
    this.#timestamps = stateStore.column("resolutions.timestamps", "u32");
    this.#txTags = stateStore.column("resolutions.tx_tags", "u32");
    this.#ids = stateStore.column("resolutions.ids", "u8");
    this.#repeats = stateStore.column("resolutions.repeats", "u8");
  }

  of(conditionId: ConditionId): Resolution | null {
    return this.#byCondition.get(conditionId) ?? null;
  }

  get count(): number {
    return this.#count.get(0);
  }

  /** The result at an index; `null` outside of the log. */
  at(index: number): Resolution | null {
    return index < 0 || index >= this.count ? null : this.of(this.#idAt(index));
  }

  /** The index of the first result at a position or above it. */
  firstFrom(seq: number): number {
    return this.indexOf({ seq: seq as Seq, conditionId: "0x" as ConditionId });
  }

  /** Counts the results of a time, in Unix seconds, `to` exclusive, without those that repeat another. */
  countBetween(from: number, to: number): number {
    const [first, end] = [this.#firstAt(from), this.#firstAt(to)];
    let count = 0;
    for (let at = first; at < end; at += 1) count += 1 - this.#repeats.get(at);
    return count;
  }

  #firstAt(timestamp: number): number {
    return lowerBound(this.count, (index) => this.#timestamps.get(index) < timestamp);
  }

  /** The index of a result, or the index where it would be. */
  indexOf(resolution: Pick<Resolution, "seq" | "conditionId">): number {
    return lowerBound(this.count, (index) => this.#isBefore(index, resolution));
  }

  /** Returns the results of a range from an index on, in the direction of `step`. */
  select(range: ResolutionRange, from: Walk): IteratorObject<Resolution> {
    return this.indexes(range, from)
      .map((at) => this.at(at))
      .filter((one) => one !== null);
  }

  /** Returns the indices of these results. They stay valid until a reorg reverts results below them. */
  *indexes(range: ResolutionRange, { index, step }: Walk): Generator<number> {
    const { seqFrom = 0, seqTo = Infinity } = range;
    const [first, end] = [this.firstFrom(seqFrom), this.firstFrom(seqTo)];
    const isRequestedBy = this.#test(range);
    let at = step === 1 ? Math.max(index, first) : Math.min(index, end - 1);
    for (; at >= first && at < end; at += step) if (isRequestedBy(at)) yield at;
  }

  #test(range: ResolutionRange): (at: number) => boolean {
    const { timestampFrom = 0, timestampTo = Infinity, txHash, conditionIds } = range;
    const tag = txHash === undefined ? null : getTag(txHash);
    return (at) => {
      if (this.#repeats.get(at) === 1) return false;
      const timestamp = this.#timestamps.get(at);
      if (timestamp < timestampFrom || timestamp >= timestampTo) return false;
      if (tag !== null && this.#txTags.get(at) !== tag) return false;
      if (conditionIds?.has(this.#idAt(at)) === false) return false;
      return txHash === undefined || this.at(at)?.txHash === txHash;
    };
  }

  /** Adds a result unless the condition has one: a module can log a result that was already derived. */
  add(resolution: Resolution): void {
    if (this.of(resolution.conditionId) !== null) return;
    this.#byCondition.set(resolution.conditionId, resolution);
    const change = { undo: () => this.#remove(resolution), redo: () => this.#insert(resolution) };
    this.#journal.addChange(change);
    this.#insert(resolution);
  }

  /** Marks the result of a condition as one that repeats that of its mirror or legacy condition. */
  markRepeat(conditionId: ConditionId, isRepeat: boolean): void {
    const resolution = this.of(conditionId);
    if (resolution === null) return;
    this.#journal.setAt(this.#repeats, this.indexOf(resolution), isRepeat ? 1 : 0);
  }

  #insert(resolution: Resolution): void {
    const index = this.indexOf(resolution);
    this.#shift(index, index + 1);
    this.#repeats.set(index, 0);
    this.#seqs.set(index, resolution.seq);
    this.#timestamps.set(index, resolution.timestamp);
    this.#txTags.set(index, getTag(resolution.txHash));
    writeId(this.#ids, index, resolution.conditionId);
    this.#count.set(0, this.count + 1);
  }

  #remove(resolution: Resolution): void {
    const index = this.indexOf(resolution);
    this.#shift(index + 1, index);
    this.#count.set(0, this.count - 1);
  }

  /** Moves all results from `from` on to `to`; nearly always there are none. */
  #shift(from: number, to: number): void {
    const length = this.count - from;
    for (const column of [this.#seqs, this.#timestamps, this.#txTags, this.#repeats]) {
      column.move(from, to, length);
    }
    this.#ids.move(from * idBytes, to * idBytes, length * idBytes);
  }

  #idAt(index: number): ConditionId {
    return readId(this.#ids, index) as ConditionId;
  }

  #isBefore(index: number, { seq, conditionId }: Pick<Resolution, "seq" | "conditionId">): boolean {
    const own = this.#seqs.get(index) as Seq;
    return own === seq ? this.#idAt(index) < conditionId : own < seq;
  }
}

function getTag(hash: Hash): number {
  return Number.parseInt(hash.slice(2, 10), 16);
}

const resolutionCodec: Codec<Resolution> = {
  encode: ({ numerators, ...rest }) =>
    JSON.stringify({ ...rest, numerators: numerators.map(String) }),
  decode: (text) => {
    const { numerators, ...rest } = JSON.parse(text) as Resolution & { numerators: string[] };
    return { ...rest, numerators: numerators.map(BigInt) };
  },
};
