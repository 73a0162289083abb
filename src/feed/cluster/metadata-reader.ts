import { clusterMetadataLimits as limits } from "../../base/config/cluster-limits.ts";
import { metadataLimits } from "../../base/config/venue-limits.ts";
import { AppError, toError } from "../../base/errors.ts";
import type { ConditionId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import { mapYielding } from "../../base/time/turns.ts";
import type { MetadataTable, WrittenMetadata } from "../../storage/server/metadata-table.ts";
import type { HeadBuffer } from "../../views/head/head-buffer.ts";
import type { MetadataLedger } from "../../views/markets/metadata-ledger.ts";

type ReaderParts = {
  readonly table: MetadataTable;
  readonly ledger: MetadataLedger;
  readonly headBuffer: Pick<HeadBuffer, "reorgs">;
  readonly clock: Clock;
  readonly log: Log;
};

/**
 * Reads the market metadata that the active indexer stores: new rows, and again rows of markets that were indexed here
 * after their row was read.
 */
export class MetadataReader {
  readonly #parts: ReaderParts;
  readonly #closing = new AbortController();
  /** All rows written before this time have been read. Unix milliseconds. */
  #readMs: number;
  #reorgs = 0;
  readonly #running: Promise<void>;

  private constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.#readMs = (parts.ledger.progress.openReadAt ?? 0) * 1000 - limits.unfinalizedMs;
    this.#running = this.#run().catch((thrown: unknown) => {
      parts.log.error(
        { err: toError(thrown) },
        "reading market metadata stopped; a restart resumes it",
      );
    });
  }

  static start(parts: ReaderParts): MetadataReader {
    return new MetadataReader(parts);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#parts;
    while (!this.#closing.signal.aborted) {
      try {
        await this.#readNew();
        await this.#readMissing();
      } catch (thrown) {
        if (!(thrown instanceof AppError)) throw thrown;
        log.debug({ err: thrown }, "market metadata could not be read; retrying");
      }
      await clock.sleep(limits.readEveryMs, this.#closing.signal).catch(() => {});
    }
  }

  async #readNew(): Promise<void> {
    const { table, ledger, headBuffer } = this.#parts;
    if (headBuffer.reorgs !== this.#reorgs) this.#readMs -= limits.unfinalizedMs;
    this.#reorgs = headBuffer.reorgs;
    const newestMs = await table.readNewestMs();
    if (newestMs === this.#readMs) return;
    const sinceMs = Math.max(0, this.#readMs - limits.overlapMs);
    let after: ConditionId | null = null;
    do {
      if (ledger.isFull || this.#closing.signal.aborted) return;
      const rows: readonly WrittenMetadata[] = await table.readSince(sinceMs, after);
      await this.#take(rows);
      after = rows.at(-1)?.conditionId ?? null;
    } while (after !== null);
    this.#readMs = newestMs;
    ledger.progress = { ...ledger.progress, openReadAt: Math.floor(newestMs / 1000) };
  }

  async #readMissing(): Promise<void> {
    const { table, ledger, clock } = this.#parts;
    if (ledger.isFull) return;
    const nowSeconds = Math.floor(clock.nowMs() / 1000);
    const { conditionIds, missing } = ledger.due(nowSeconds, metadataLimits.dueMax);
    const requested = conditionIds.slice(0, missing);
    const rows = await table.readMetadata(requested);
    await this.#take(rows);
    // Rows that are written for the absent markets from now on are read as new rows.
    const found = new Set(rows.map(({ conditionId }) => conditionId));
    ledger.recordAbsent(
      requested.filter((conditionId) => !found.has(conditionId)),
      nowSeconds,
    );
  }

  async #take(rows: readonly WrittenMetadata[]): Promise<void> {
    const { ledger, log } = this.#parts;
    await mapYielding(rows, ({ conditionId, market, writtenMs }) => {
      if (market === null)
        log.warn({ conditionId }, "stored market metadata is unreadable; skipped");
      else ledger.take(market, Math.floor(writtenMs / 1000));
    });
  }
}
