/** Counts the items of each owner, such as the connections of an IP, up to a limit for each owner. */
export class BoundedCounts {
  readonly #counts = new Map<string, number>();

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Counts an item of `owner`; returns `false` instead when the owner has `limit` items. */
  acquire(owner: string, limit: number): boolean {
    const count = this.#counts.get(owner) ?? 0;
    if (count >= limit) return false;
    this.#counts.set(owner, count + 1);
    return true;
  }

  release(owner: string): void {
    const count = this.#counts.get(owner) ?? 0;
    if (count <= 1) this.#counts.delete(owner);
    else this.#counts.set(owner, count - 1);
  }
}
