/** Positions of a wallet: its ledger is read and folded. Nothing is kept between requests. */
import type { Address, ConditionId, Seq, TokenId } from "../../base/ids.ts";
import { mapYielding, sortYielding } from "../../base/time/turns.ts";
import { type FoldContext, type FoldRow, PositionFold } from "../../market/ledger/position.ts";
import { PositionSums, type ValuedPosition } from "../../market/ledger/valued-position.ts";
import { WalletTotals } from "../../market/ledger/wallet-totals.ts";
import { type TradedMarket, topMarketsMax } from "../../rows/wallets/wallet-row.ts";
import { hasLedger, readFoldRows } from "../../storage/codec/read-ledger.ts";
import { firstSeqAbove } from "../../storage/covered-facts.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketDirectory } from "../../views/markets/market-directory.ts";
import { getSettlement, valuePosition } from "../../views/prices/position-value.ts";

/** The sources of wallets, holders and supply. */
export type WalletSources = {
  readonly facts: IndexedFacts;
  readonly directory: MarketDirectory;
};

/** What a wallet holds, also closed positions, and the sums of its positions and trades. */
export type ReadWallet = {
  readonly positions: readonly ValuedPosition[];
  readonly sums: PositionSums;
  readonly totals: WalletTotals;
};

/** Follows the rows of a wallet, and its profits with tokens whose whole ledger is indexed, in order. */
export type WalletObserver = Pick<WalletTotals, "add"> & {
  addRealized(amount: bigint, timestamp: number): void;
};

/** Reads a wallet; `null` for an address without a ledger. */
export async function readWallet(
  { facts, directory }: WalletSources,
  wallet: Address,
  observer?: WalletObserver,
): Promise<ReadWallet | null> {
  facts.reads.add("wallet", "engine");
  // Both ends of the ledger are taken in one turn, so that no row is missed or read twice.
  const boundary = firstSeqAbove(facts.coverage);
  const through = facts.newestSeq as Seq;
  const unfinalized = facts.headBuffer.getLedger(wallet);
  const context: FoldContext = {
    getSettlement: (tokenId) => getSettlement(tokenId, directory),
    getFeeBips: (tokenId) => BigInt(directory.conversionFeeBips(tokenId)),
    ...(observer && {
      onRealized: (tokenId, amount, timestamp) => {
        if (directory.isCompleteToken(tokenId)) observer.addRealized(amount, timestamp);
      },
    }),
  };
  const fold = new PositionFold(context);
  const totals = new WalletTotals();
  const addRow = (row: FoldRow) => {
    fold.add(row);
    totals.add(row);
    observer?.add(row);
  };
  for await (const rows of readFoldRows(facts.engine, wallet, boundary)) {
    await mapYielding(rows, addRow);
  }
  await mapYielding(unfinalized, addRow);
  const shares = new Map<TokenId, bigint>();
  const folded = await mapYielding(fold.finish(through), (position) => {
    shares.set(position.tokenId, position.shares);
    return position;
  });
  if (folded.length === 0) return null;
  const sums = new PositionSums();
  const positions = await mapYielding(folded, (position) => {
    const valued = valuePosition(position, { directory, shares });
    sums.add(valued);
    return valued;
  });
  return { positions, sums, totals };
}

/** Whether an address ever had a token. */
export async function isWallet(facts: IndexedFacts, wallet: Address): Promise<boolean> {
  if (facts.headBuffer.getLedger(wallet).length > 0) return true;
  return hasLedger(facts.engine, wallet, firstSeqAbove(facts.coverage));
}

/** Counts the markets of a wallet's positions, and sums its trades in those with the highest volume. */
export async function summarizeMarkets(
  { positions, totals }: Pick<ReadWallet, "positions" | "totals">,
  directory: MarketDirectory,
): Promise<{ readonly marketCount: number; readonly topMarkets: readonly TradedMarket[] }> {
  // A token of an unknown market stands for its market.
  const getKey = (tokenId: TokenId): ConditionId | TokenId => {
    const slot = directory.getSlot(tokenId);
    return slot === null ? tokenId : directory.getMarketId(slot.conditionId);
  };
  const markets = new Set<ConditionId | TokenId>();
  await mapYielding(positions, ({ tokenId }) => markets.add(getKey(tokenId)));
  type Trades = { tokenId: TokenId; trades: number; volume: bigint; lastTimestamp: number };
  const sums = new Map<ConditionId | TokenId, Trades>();
  await mapYielding(totals.byToken, ([tokenId, one]) => {
    const key = getKey(tokenId);
    const sum = sums.get(key) ?? { tokenId, trades: 0, volume: 0n, lastTimestamp: 0 };
    sum.trades += one.trades;
    sum.volume += one.volume;
    sum.lastTimestamp = Math.max(sum.lastTimestamp, one.lastTimestamp);
    sums.set(key, sum);
  });
  const top = await sortYielding([...sums.values()], (a, b) => Number(b.volume - a.volume));
  return {
    marketCount: markets.size,
    topMarkets: top.slice(0, topMarketsMax).map(({ tokenId, ...trades }) => ({
      market: directory.getToken(tokenId).market,
      ...trades,
    })),
  };
}
