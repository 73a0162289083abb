import { mixToken } from "../../storage/codec/token-texts.ts";
import type { Column } from "../disk/column.ts";

const idBytes = 32;
/** A power of two; doubled when half of the places are taken. */
const placesMin = 1024;

/**
 * Slots by the bytes of their token ids, in open addressing. A start looks up the token of every trade of a day; a
 * `Map` would need each id as text.
 */
export class TokenSlots {
  readonly #ids: Column<"u8">;
  #view: DataView;
  /** Slots plus 1; 0 for none. */
  #places = new Int32Array(placesMin);
  #size = 0;

  /** `ids` has the 32 bytes of the token of each slot. */
  constructor(ids: Column<"u8">) {
    this.#ids = ids;
    this.#view = new DataView(ids.values.buffer);
  }

  /** The slot of the token whose 32 bytes are at `at`; -1 when it has none. */
  find(view: DataView, at: number): number {
    return (this.#places[this.#placeOf(view, at)] ?? 0) - 1;
  }

  /** Adds a slot whose token has none yet. */
  add(slot: number): void {
    if (this.#size * 2 >= this.#places.length) this.#grow();
    this.#places[this.#placeOf(this.#idsView, slot * idBytes)] = slot + 1;
    this.#size += 1;
  }

  delete(slot: number): void {
    const last = this.#places.length - 1;
    let gap = this.#placeOf(this.#idsView, slot * idBytes);
    this.#places[gap] = 0;
    this.#size -= 1;
    // What was pushed aside by it moves up.
    for (let place = (gap + 1) & last; this.#places[place] !== 0; place = (place + 1) & last) {
      const home = mixToken(this.#view, ((this.#places[place] ?? 0) - 1) * idBytes) & last;
      if (((place - home) & last) < ((place - gap) & last)) continue;
      this.#places[gap] = this.#places[place] ?? 0;
      this.#places[place] = 0;
      gap = place;
    }
  }

  /** Where a token is, or the free place it would take. */
  #placeOf(view: DataView, at: number): number {
    const ids = this.#idsView;
    const last = this.#places.length - 1;
    for (let place = mixToken(view, at) & last; ; place = (place + 1) & last) {
      const slot = (this.#places[place] ?? 0) - 1;
      if (slot === -1 || isSame(ids, slot * idBytes, { view, at })) return place;
    }
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Int32Array(before.length * 2);
    for (const taken of before) {
      if (taken !== 0) this.#places[this.#placeOf(this.#idsView, (taken - 1) * idBytes)] = taken;
    }
  }

  /** The column moves when it grows. */
  get #idsView(): DataView {
    const { buffer } = this.#ids.values;
    if (this.#view.buffer !== buffer) this.#view = new DataView(buffer);
    return this.#view;
  }
}

function isSame(
  ids: DataView,
  from: number,
  { view, at }: { readonly view: DataView; readonly at: number },
): boolean {
  for (let byte = 0; byte < idBytes; byte += 4) {
    if (ids.getInt32(from + byte) !== view.getInt32(at + byte)) return false;
  }
  return true;
}
