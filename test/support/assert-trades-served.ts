import assert from "node:assert/strict";
import { isTrade } from "../../src/market/fill.ts";
import type { LiveChain } from "./live-chain.ts";
import type { Service } from "./service.ts";

/** That the service tells every trade of the chain, which is all final, in order, and no other. */
export async function assertTradesServed(service: Service, chain: LiveChain): Promise<number> {
  const rows = await service.getAllPages("/v1/trades?limit=1000&order=asc");
  const trades = chain.blocks.flatMap(({ fills }) => fills).filter(isTrade);
  assert.deepEqual(
    rows.map((row) => [row["seq"], row["tx_hash"], row["block_hash"], row["status"]]),
    trades.map((fill) => [fill.seq, fill.txHash, fill.blockHash, "finalized"]),
  );
  return rows.length;
}
