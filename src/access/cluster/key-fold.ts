import type { KeyPosition } from "../api-key.ts";
import { newestFirst } from "../ip-blocks.ts";
import { toComparedName } from "../key-format.ts";
import { isActive, type KeyRecord } from "../key-record.ts";
import type { KeyChange } from "./key-change.ts";

/** The state of all keys, folded from the rows of the log in the order of their versions. */
export class KeyFold {
  pepperCheck: string | null = null;
  /** The version of the last row, and the number of rows. */
  version = 0;
  rows = 0;
  readonly #records = new Map<string, KeyRecord>();
  /** The MACs of all values ever issued, so that none is imported again. */
  readonly #issued = new Set<string>();

  apply(version: number, change: KeyChange): void {
    this.version = version;
    this.rows += 1;
    switch (change.kind) {
      case "pepper":
        this.pepperCheck ??= change.check;
        return;
      case "stored": {
        const { record } = change;
        this.#issued.add(record.mac);
        // A revocation is for good.
        const revokedAtMs = this.#records.get(record.id)?.revokedAtMs ?? record.revokedAtMs;
        this.#records.set(record.id, { ...record, revokedAtMs });
      }
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
    const compared = toComparedName(name);
    const named = active.filter((record) => toComparedName(record.name) === compared);
    return { active: active.length, named: named.length };
  }

  /** Lists keys from newest to oldest, including revoked ones. */
  list(page: { limit: number; after: KeyPosition | null }): readonly KeyRecord[] {
    return newestFirst(this.records, page, ({ createdAtMs, id }) => [createdAtMs, id]);
  }
}
