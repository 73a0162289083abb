import { venueLimits } from "../../base/config/venue-limits.ts";
import { KindCounts } from "../../base/metrics/kind-counts.ts";

/** A kind of book whose hashes the venue may compute in a way of its own. */
export type BookKind = `${"v1" | "v2" | "other"}${"" | "_untraded"}`;

type Trust = {
  /** Whether a message of the stream proved a hash of this kind. */
  isProven: boolean;
  isUsable: boolean;
  /** Mismatches on correct books since the last proof. Of a proven kind, each token counts once. */
  readonly falseAlarms: Set<string>;
};

/**
 * Whether the venue's hashes can be reproduced. The venue has changed their input before without notice. After many
 * mismatches in a row on correct books of one kind, hashes of this kind are no longer used, until one matches again.
 * These books are then checked by their best prices and by fetching them again.
 */
export class HashTrust {
  readonly #proven = new KindCounts<BookKind>();
  readonly #falseAlarms = new KindCounts<BookKind>();
  readonly #trusts = new Map<BookKind, Trust>();

  /** The values of the metrics, by their names; counts are since the start. */
  get metrics() {
    const usable = [...this.#trusts].map(([kind, { isUsable }]) => [kind, Number(isUsable)]);
    return {
      hash_check_enabled: Object.fromEntries(usable) as Readonly<Record<string, number>>,
      hashes_proven: this.#proven.toRecord(),
      hash_false_positives: this.#falseAlarms.toRecord(),
    };
  }

  isUsable(kind: BookKind): boolean {
    return this.#getTrust(kind).isUsable;
  }

  recordProven(kind: BookKind): void {
    this.#proven.add(kind);
    const trust = this.#getTrust(kind);
    trust.isProven = true;
    trust.isUsable = true;
    trust.falseAlarms.clear();
  }

  recordFalseAlarm(kind: BookKind, assetId: string): void {
    this.#falseAlarms.add(kind);
    const trust = this.#getTrust(kind);
    // One altered book does not disprove a kind whose hashes match elsewhere.
    trust.falseAlarms.add(trust.isProven ? assetId : String(trust.falseAlarms.size));
    if (trust.falseAlarms.size >= venueLimits.bookFalseAlarmsMax) trust.isUsable = false;
  }

  #getTrust(kind: BookKind): Trust {
    const existing = this.#trusts.get(kind);
    if (existing !== undefined) return existing;
    const trust = { isProven: false, isUsable: true, falseAlarms: new Set<string>() };
    this.#trusts.set(kind, trust);
    return trust;
  }
}
