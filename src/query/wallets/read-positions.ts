/** Positions of a wallet: its ledger is read and folded. Nothing is kept between requests. */
import type { Address, Seq } from "../../base/ids.ts";
import { mapYielding } from "../../base/time/turns.ts";
import { type FoldContext, PositionFold } from "../../market/ledger/position.ts";
import { readFoldRows } from "../../storage/codec/read-ledger.ts";
import { firstSeqAbove } from "../../storage/covered-facts.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketDirectory } from "../../views/markets/market-directory.ts";
import {
  getSettlement,
  type ValuedPosition,
  valuePosition,
} from "../../views/prices/position-value.ts";

/** The sources of positions. */
export type PositionSources = {
  readonly facts: IndexedFacts;
  readonly directory: MarketDirectory;
};

/** Reads all positions of a wallet, also closed ones; `null` for an address without a ledger. */
export async function readPositions(
  { facts, directory }: PositionSources,
  wallet: Address,
  onRealized?: NonNullable<FoldContext["onRealized"]>,
): Promise<readonly ValuedPosition[] | null> {
  facts.reads.add("wallet", "engine");
  // Both ends of the ledger are taken in one turn, so that no row is missed or read twice.
  const boundary = firstSeqAbove(facts.coverage);
  const through = facts.newestSeq as Seq;
  const unfinalized = facts.headBuffer.getLedger(wallet);
  const context: FoldContext = {
    getSettlement: (tokenId) => getSettlement(tokenId, directory),
    getFeeBips: (tokenId) => BigInt(directory.conversionFeeBips(tokenId)),
    ...(onRealized && { onRealized }),
  };
  const fold = new PositionFold(context);
  for await (const rows of readFoldRows(facts.engine, wallet, boundary)) {
    await mapYielding(rows, (row) => fold.add(row));
  }
  for (const row of unfinalized) fold.add(row);
  const positions = fold.finish(through);
  if (positions.length === 0) return null;
  const shares = new Map(positions.map((position) => [position.tokenId, position.shares]));
  return mapYielding(positions, (position) =>
    valuePosition(position, { facts, directory, shares }),
  );
}
