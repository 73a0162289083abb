/**
 * Reads the delta of final blocks from their encoded rows. So trades cross threads in buffers: as objects, their
 * transfer would cost more than all other work of the thread.
 */
import type { Seq } from "../../base/ids.ts";
import type { Generation } from "../../contracts/contracts.ts";
import type { Delta } from "../../market/delta.ts";
import type { Trade } from "../../market/fill.ts";
import type { BatchHead, BatchRows } from "./encode-facts.ts";
import { enumCodes, fillBytes, fillOffsets } from "./fill-layout.ts";
import { decodeBalances } from "./ledger-layout.ts";
import { RowReader } from "./row-reader.ts";

/** Returns the delta of a batch with these rows. It equals what `toFinalDelta` derives from the same blocks. */
export function decodeDelta(head: BatchHead, rows: Pick<BatchRows, "fills" | "supplies">): Delta {
  const { fromBlock, last, events, tally } = head;
  const trades = decodeTrades(new RowReader(rows.fills));
  const supplies = decodeBalances(rows.supplies);
  return { fromBlock, last, block: null, events, trades, supplies, tally };
}

function decodeTrades(rows: RowReader): readonly Trade[] {
  const trades: Trade[] = [];
  for (let row = 0; row < rows.length; row += fillBytes) {
    if (rows.uint8(row + fillOffsets.role) === enumCodes.role.taker) continue;
    trades.push({
      seq: rows.uint64(row + fillOffsets.seq) as Seq,
      timestamp: rows.uint32(row + fillOffsets.timestamp),
      tokenId: rows.tokenId(row + fillOffsets.token_id),
      size: rows.int128(row + fillOffsets.size),
      value: rows.int128(row + fillOffsets.value),
      side: rows.uint8(row + fillOffsets.side) === enumCodes.side.BUY ? "BUY" : "SELL",
      txHash: rows.hash(row + fillOffsets.tx_hash),
      generation: rows.uint8(row + fillOffsets.exchange_version) as Generation,
    });
  }
  return trades;
}
