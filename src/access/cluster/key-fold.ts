import type { KeyPosition } from "../api-key.ts";
import { newestFirst } from "../ip-blocks.ts";
import { isActive, type KeyRecord } from "../key-record.ts";
import type { KeyChange } from "./key-change.ts";

/** The state of all keys, folded from the rows of the log. A revocation holds whatever the order of rows. */
export class KeyFold {
  pepperCheck: string | null = null;
  readonly #records = new Map<string, KeyRecord>();
  readonly #revoked = new Map<string, number>();
  /** The MACs of all values ever issued, so that none is imported again. */
  readonly #issued = new Set<string>();

  apply(change: KeyChange): void {
    switch (change.kind) {
      case "pepper":
        this.pepperCheck ??= change.check;
        return;
      case "revoked":
        if (this.#revoked.has(change.id)) return;
        this.#revoked.set(change.id, change.atMs);
        this.#put(this.#records.get(change.id));
        return;
      case "stored":
        this.#issued.add(change.record.mac);
        this.#put(change.record);
    }
  }

  get records(): readonly KeyRecord[] {
    return [...this.#records.values()];
  }

  get(id: string): KeyRecord | undefined {
    return this.#records.get(id);
  }

  wasIssued(mac: string): boolean {
    return this.#issued.has(mac);
  }

  /** Returns how many keys are active, and how many of those have the given name. */
  countActive(name: string, nowMs: number): { readonly active: number; readonly named: number } {
    const active = this.records.filter((record) => isActive(record, nowMs));
    const named = active.filter((record) => record.name === name);
    return { active: active.length, named: named.length };
  }

  /** Lists keys from newest to oldest, including revoked ones. */
  list(page: { limit: number; after: KeyPosition | null }): readonly KeyRecord[] {
    return newestFirst(this.records, page, ({ createdAtMs, id }) => [createdAtMs, id]);
  }

  #put(record: KeyRecord | undefined): void {
    if (record === undefined) return;
    const revokedAtMs = this.#revoked.get(record.id) ?? null;
    this.#records.set(record.id, { ...record, revokedAtMs });
  }
}
