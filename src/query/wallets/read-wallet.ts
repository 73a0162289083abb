import { parseMicros } from "../../base/decimal.ts";
import type { Address, ConditionId, TokenId } from "../../base/ids.ts";
import { mapYielding } from "../../base/time/turns.ts";
import { isTrade } from "../../market/fill.ts";
import {
  addWalletTotals,
  type WalletMarket,
  type WalletTotals,
} from "../../market/wallet-totals.ts";
import { firstSeqAbove } from "../../storage/covered-facts.ts";
import { hexLiteral, integerLiteral } from "../../storage/sql-literal.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketDirectory } from "../../views/markets/market-directory.ts";

const walletTokensMax = 50_000;

/** The totals of a wallet for each market. */
export type ReadWallet = {
  readonly markets: readonly WalletMarket[];
  /** Whether it traded `walletTokensMax` tokens or more. Then only the ones with the highest volume are counted. */
  readonly truncated: boolean;
};

/** Reads the totals of a wallet by market. Tokens of unknown markets are not grouped. */
export async function readWallet(
  { facts, directory }: { readonly facts: IndexedFacts; readonly directory: MarketDirectory },
  address: Address,
): Promise<ReadWallet> {
  const tokens = await readTokens(facts, address);
  const markets = new Map<ConditionId | TokenId, WalletMarket>();
  await mapYielding(tokens, ([tokenId, more]) => {
    const place = directory.getPlace(tokenId);
    const conditionId = place === null ? null : directory.getMarketId(place.conditionId);
    const before = markets.get(conditionId ?? tokenId);
    const totals = before === undefined ? more : addWalletTotals(before.totals, more);
    markets.set(conditionId ?? tokenId, { conditionId, totals });
  });
  return { markets: [...markets.values()], truncated: tokens.size >= walletTokensMax };
}

/** Reads the totals by token, in one query that scans maker and taker of every fill: no table is ordered by them. */
async function readTokens(
  facts: IndexedFacts,
  address: Address,
): Promise<ReadonlyMap<TokenId, WalletTotals>> {
  facts.reads.add("wallet", "engine");
  const boundary = firstSeqAbove(facts.coverage);
  const unfinalized = facts.headBuffer
    .fills()
    .filter((fill) => isTrade(fill) && (fill.maker === address || fill.taker === address));
  const wallet = hexLiteral(address);
  const rows = await facts.engine.query(`
    SELECT lower(hex(token_id)), count(), countIf(maker = ${wallet}), countIf(taker = ${wallet}),
      sum(value) AS volume, min(timestamp), max(timestamp)
    FROM fills PREWHERE (maker = ${wallet} OR taker = ${wallet})
    WHERE role != 'taker' AND seq < ${integerLiteral(boundary)}
    GROUP BY token_id ORDER BY volume DESC, token_id LIMIT ${integerLiteral(walletTokensMax)}`);
  const tokens = new Map<TokenId, WalletTotals>();
  const add = (tokenId: TokenId, more: WalletTotals) => {
    const before = tokens.get(tokenId);
    tokens.set(tokenId, before === undefined ? more : addWalletTotals(before, more));
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
