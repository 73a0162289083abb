/**
 * Room for ranks of all markets, three megabytes with 1.5 million, which most lists need and few are
 * kept for long: it is used again, since making it and collecting it costs more than filling it.
 */
export class RankRoom {
  readonly #spare: Uint16Array<ArrayBuffer>[] = [];
  readonly #roomsMax: number;

  /** Up to `roomsMax` that nobody uses are kept. */
  constructor(roomsMax: number) {
    this.#roomsMax = roomsMax;
  }

  /** Ranks by ordinal below `count`, each whatever it was before. */
  take(count: number): Uint16Array<ArrayBuffer> {
    const spare = this.#spare.pop();
    if (spare !== undefined && spare.length >= count) return spare.subarray(0, count);
    // With some more for markets to come.
    return new Uint16Array(Math.ceil(count * 1.05) + 1024).subarray(0, count);
  }

  /** Takes back what nobody uses any more. */
  give(ranks: Uint16Array): void {
    if (this.#spare.length < this.#roomsMax && ranks.buffer instanceof ArrayBuffer) {
      this.#spare.push(new Uint16Array(ranks.buffer));
    }
  }
}
