/**
 * Counts by kind, for the life of the process. Kinds must be names from the code, never text from
 * outside, or the map would grow without bound.
 */
export class KindCounts<Kind extends string = string> {
  readonly #counts = new Map<Kind, number>();

  add(kind: Kind, count = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + count);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  toRecord(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
