import { yieldToEventLoop } from "../../base/time/turns.ts";
import { getMarketRow } from "../../query/markets/market-rows.ts";
import { type MarketRow, marketRow } from "../../rows/market-row.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import { getColumns, requiredPart } from "./columns.ts";
import { EncodingThread } from "./encoding-thread.ts";

const marketsAtOnce = 200;

/** Encodes all markets as a Parquet file with the columns of `GET /v1/markets`. Takes the main thread for short turns. */
export async function encodeMarketSnapshot(
  state: MarketState,
): Promise<{ readonly bytes: Uint8Array; readonly rows: number }> {
  const pieces: Uint8Array[] = [];
  let rows = 0;
  const arrays = async function* () {
    for await (const chunk of chunksOfMarkets(state)) {
      rows += chunk.length;
      yield JSON.stringify(chunk);
    }
  };
  const file = { format: "parquet", columns: getColumns(requiredPart(marketRow)) } as const;
  for await (const piece of new EncodingThread().encode(file, arrays())) pieces.push(piece);
  return { bytes: Buffer.concat(pieces), rows };
}

/** Yields the rows of all markets, in the order in which they became known. */
async function* chunksOfMarkets(state: MarketState): AsyncGenerator<readonly MarketRow[]> {
  const { columns } = state.directory;
  for (let from = 0; from < columns.count; from += marketsAtOnce) {
    const to = Math.min(columns.count, from + marketsAtOnce);
    const ids = Array.from({ length: to - from }, (_, index) =>
      columns.conditionIdAt(from + index),
    );
    const markets = ids.map((id) => state.directory.market(id)).filter((market) => market !== null);
    yield markets.map((market) => getMarketRow(market, state));
    await yieldToEventLoop();
  }
}
