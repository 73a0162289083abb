import { clusterMetadataLimits as limits } from "../../base/config/cluster-limits.ts";
import type { ConditionId } from "../../base/ids.ts";
import { type MetadataMarket, parseStoredMarket } from "../../venue/metadata/parse-market.ts";
import { RowWriter } from "../codec/row-writer.ts";
import type { Engine } from "../engine/engine.ts";
import { hexLiteral, integerLiteral, listLiteral } from "../sql-literal.ts";

/** The newest stored metadata of a market. */
export type WrittenMetadata = {
  readonly conditionId: ConditionId;
  /** `null` when the row cannot be read. */
  readonly market: MetadataMarket | null;
  /** Unix milliseconds. */
  readonly writtenMs: number;
};

/**
 * The market metadata that the active indexer has fetched, for all nodes. The newest row of a market counts; the engine
 * removes older ones in merges. All methods throw `SERVICE_UNAVAILABLE` when ClickHouse is unavailable.
 */
export class MetadataTable {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Inserts metadata with a write time in unix milliseconds. Durable when it resolves. */
  async write(markets: readonly MetadataMarket[], nowMs: number): Promise<void> {
    const rows = new RowWriter();
    for (const market of markets) {
      rows.hex(market.conditionId).uint64(nowMs).text(JSON.stringify(market));
    }
    await this.#engine.insert("market_metadata", rows.finish());
  }

  /** Reads when the newest row was written, in unix milliseconds; 0 without rows. */
  async readNewestMs(): Promise<number> {
    const [row] = await this.#engine.query("SELECT max(written_ms) FROM market_metadata");
    return Number(row?.[0] ?? 0);
  }

  /** Reads a page of the rows written at `sinceMs` or later, by id: the rows after `after`, or the first page. */
  async readSince(sinceMs: number, after: ConditionId | null): Promise<readonly WrittenMetadata[]> {
    const behind = after === null ? "" : ` AND condition_id > ${hexLiteral(after)}`;
    const where = `written_ms >= ${integerLiteral(sinceMs)}${behind}`;
    // The subquery finds the end of the page without reading `metadata`.
    return this.#read(`${where} AND condition_id <= (SELECT max(condition_id) FROM (
      SELECT condition_id FROM market_metadata WHERE ${where} ORDER BY condition_id LIMIT ${limits.rowsReadMax}))`);
  }

  /** Reads the stored metadata of some markets, at most a few hundred. */
  async readMetadata(conditionIds: readonly ConditionId[]): Promise<readonly WrittenMetadata[]> {
    if (conditionIds.length === 0) return [];
    return this.#read(`condition_id IN ${listLiteral(conditionIds.map(hexLiteral))}`);
  }

  async #read(where: string): Promise<readonly WrittenMetadata[]> {
    const rows = await this.#engine.query(
      `SELECT lower(hex(condition_id)), written_ms, metadata FROM market_metadata WHERE ${where}
       ORDER BY condition_id, written_ms DESC LIMIT 1 BY condition_id`,
    );
    return rows.map(([id, writtenMs, json]) => {
      const conditionId = `0x${String(id)}` as ConditionId;
      const market = parseStoredMarket(conditionId, String(json));
      return { conditionId, market, writtenMs: Number(writtenMs) };
    });
  }
}
