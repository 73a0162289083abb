import { clusterMetadataLimits as limits } from "../../base/config/cluster-limits.ts";
import type { ConditionId } from "../../base/ids.ts";
import type { MetadataMarket } from "../../venue/metadata/parse-market.ts";
import { parseStoredMarket } from "../../venue/metadata/stored-market.ts";
import { RowWriter } from "../codec/row-writer.ts";
import type { Engine } from "../engine/engine.ts";
import { hexLiteral, integerLiteral, listLiteral } from "../sql-literal.ts";

/** The newest row of a market. */
export type WrittenMetadata = {
  readonly conditionId: ConditionId;
  /** `null` when the row cannot be read. */
  readonly market: MetadataMarket | null;
  /** Unix milliseconds. */
  readonly writtenMs: number;
};

/**
 * The market metadata that the active indexer has fetched, for all nodes: the newest row of a market counts, the engine
 * merges the others away. Everything here throws `SERVICE_UNAVAILABLE` without ClickHouse.
 */
export class MetadataTable {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Durable when it resolves. */
  async write(markets: readonly MetadataMarket[], nowMs: number): Promise<void> {
    const rows = new RowWriter();
    for (const market of markets) {
      rows.hex(market.conditionId).uint64(nowMs).text(JSON.stringify(market));
    }
    await this.#engine.insert("market_metadata", rows.finish());
  }

  /** When the newest row was written; 0 without any. */
  async readNewestMs(): Promise<number> {
    const [row] = await this.#engine.query("SELECT max(written_ms) FROM market_metadata");
    return Number(row?.[0] ?? 0);
  }

  /** A page of what was written at a time or later, in the order of the ids: those behind `after`, or the first. */
  async readSince(sinceMs: number, after: ConditionId | null): Promise<readonly WrittenMetadata[]> {
    const behind = after === null ? "" : ` AND condition_id > ${hexLiteral(after)}`;
    const where = `written_ms >= ${integerLiteral(sinceMs)}${behind}`;
    // Where the page ends is found without reading what the rows say.
    return this.#read(`${where} AND condition_id <= (SELECT max(condition_id) FROM (
      SELECT condition_id FROM market_metadata WHERE ${where} ORDER BY condition_id LIMIT ${limits.rowsReadMax}))`);
  }

  /** What is known of these markets, some hundreds of them. */
  async readOf(conditionIds: readonly ConditionId[]): Promise<readonly WrittenMetadata[]> {
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
