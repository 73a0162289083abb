import { parseMicros } from "../base/decimal.ts";
import type { Address, TokenId } from "../base/ids.ts";
import { isTrade } from "../market/fill.ts";
import { addTotals, type WalletTotals } from "../rows/wallet-row.ts";
import { hexLiteral, integerLiteral } from "../storage/sql-literal.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import { finalBoundary } from "./merged-list.ts";

/** More tokens than this are not read of one wallet. */
export const walletTokensMax = 50_000;

/**
 * What a wallet traded, token by token; of more than `walletTokensMax` those with the highest volume. One query,
 * which reads the parties of every fill: no table is ordered by them.
 */
export async function readWallet(
  store: IndexedFacts,
  address: Address,
): Promise<ReadonlyMap<TokenId, WalletTotals>> {
  store.reads.add("wallet", "engine");
  const boundary = finalBoundary(store);
  const unfinalized = store.headBuffer
    .fills()
    .filter((fill) => isTrade(fill) && (fill.maker === address || fill.taker === address));
  const wallet = hexLiteral(address);
  const rows = await store.engine.query(`
    SELECT lower(hex(token_id)), count(), countIf(maker = ${wallet}), countIf(taker = ${wallet}),
      sum(value) AS volume, min(timestamp), max(timestamp)
    FROM fills PREWHERE (maker = ${wallet} OR taker = ${wallet})
    WHERE role != 'taker' AND seq < ${integerLiteral(boundary)}
    GROUP BY token_id ORDER BY volume DESC, token_id LIMIT ${integerLiteral(walletTokensMax)}`);
  const tokens = new Map<TokenId, WalletTotals>();
  const add = (tokenId: TokenId, more: WalletTotals) => {
    const before = tokens.get(tokenId);
    tokens.set(tokenId, before === undefined ? more : addTotals(before, more));
  };
  for (const [id, trades, makerTrades, takerTrades, volume, first, last] of rows) {
    add(`0x${String(id)}` as TokenId, {
      trades: Number(trades),
      makerTrades: Number(makerTrades),
      takerTrades: Number(takerTrades),
      volumeUsd: parseMicros(String(volume)) ?? 0n,
      firstTimestamp: Number(first),
      lastTimestamp: Number(last),
    });
  }
  for (const { tokenId, maker, taker, value, timestamp } of unfinalized) {
    add(tokenId, {
      trades: 1,
      makerTrades: Number(maker === address),
      takerTrades: Number(taker === address),
      volumeUsd: value,
      firstTimestamp: timestamp,
      lastTimestamp: timestamp,
    });
  }
  return tokens;
}
