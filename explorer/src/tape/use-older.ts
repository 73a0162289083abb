import { useState } from "preact/hooks";
import type { Trade } from "../../../clients/typescript/src/api.ts";
import type { OddwireClient } from "../../../clients/typescript/src/client.ts";
import { learnQuestions } from "../service/market-names.ts";
import { client } from "../service/session.ts";
import { merged, type TradeChannel, toQuery } from "./use-tape.ts";

/** The trades that a list can be read back to. All rows are drawn. */
const tradesMax = 2000;

/** Trades that were read page by page, newest first. */
export type Older = {
  readonly trades: readonly Trade[];
  /** The cursor of the next page; `undefined` before the first, `null` after the last. */
  readonly next: string | null | undefined;
};

const none: Older = { trades: [], next: undefined };

/** The older trades of a channel, read on request. */
export function useOlder(channel: TradeChannel): Older & {
  readonly isFull: boolean;
  readonly read: () => Promise<void>;
  readonly drop: () => void;
} {
  const [older, setOlder] = useState(none);
  const read = async (): Promise<void> => {
    const longer = await readOlder(client.value, channel, older);
    setOlder((now) => (now === older ? longer : now));
  };
  return {
    ...older,
    isFull: older.trades.length >= tradesMax,
    read,
    drop: () => setOlder(none),
  };
}

/** Returns the trades of a list and the older ones, without those that more pages separate from the pages read. */
export function withOlder(trades: readonly Trade[], older: Older): readonly Trade[] {
  const readSeq = older.next === null ? 0 : (older.trades.at(-1)?.seq ?? 0);
  return merged(trades, older.trades).filter(({ seq }) => seq >= readSeq);
}

/**
 * Reads one more page. Before the first, it reads the newest page again, because live trades have pushed rows out of
 * the list since that was read.
 */
async function readOlder(
  using: OddwireClient,
  channel: TradeChannel,
  { trades, next }: Older,
): Promise<Older> {
  const list = using.trades(toQuery(channel));
  const newest = next === undefined ? await list.page() : null;
  const cursor = newest === null ? next : newest.pagination.next_cursor;
  const page = typeof cursor === "string" ? await list.page(cursor) : null;
  const rows = [...(newest?.data ?? []), ...(page?.data ?? [])];
  learnQuestions(rows);
  return { trades: merged(trades, rows), next: page?.pagination.next_cursor ?? null };
}
