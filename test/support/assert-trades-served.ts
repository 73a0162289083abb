import assert from "node:assert/strict";
import { type Fill, isTrade } from "../../src/market/fill.ts";
import type { LiveChain } from "./live-chain.ts";
import type { Service } from "./service.ts";
import { getFacts, getFills } from "./store-chain.ts";

/**
 * Asserts that the service serves exactly the trades of a fully final chain, in order: in the list of all trades and in
 * the lists of tokens, which come from another table.
 */
export async function assertTradesServed(service: Service, chain: LiveChain): Promise<number> {
  const trades = getFills(getFacts(chain.blocks)).filter(isTrade);
  await assertServed(service, "/v1/trades", trades);
  for (const [tokenId, own] of Map.groupBy(trades, (fill) => fill.tokenId)) {
    await assertServed(service, `/v1/trades/market/${BigInt(tokenId)}`, own);
  }
  return trades.length;
}

async function assertServed(service: Service, path: string, fills: readonly Fill[]): Promise<void> {
  const rows = await service.getAllPages(`${path}?limit=1000&order=asc`);
  assert.deepEqual(
    rows.map((row) => [row["seq"], row["tx_hash"], row["block_hash"], row["status"]]),
    fills.map((fill) => [fill.seq, fill.txHash, fill.blockHash, "finalized"]),
  );
}
