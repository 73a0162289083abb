/** How many of something each owner has, such as connections of an IP, within a bound each. */
export class BoundedCounts {
  readonly #counts = new Map<string, number>();

  /** Of all owners. */
  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Takes a place; `false` when all `limit` of them are taken. */
  take(owner: string, limit: number): boolean {
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
