import { type Hash, toBlockNumber, toFirstSeq } from "../base/ids.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import type { Fill } from "../market/fill.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import { readEvents } from "./read-events.ts";
import { readFills } from "./read-fills.ts";

/** The fills and other events of one transaction, each in the order of their logs. */
export type Transaction = {
  readonly fills: readonly Fill[];
  readonly events: readonly LocatedEvent[];
};

/** Reads up to `limit` fills and as many other events of a transaction. */
export async function readTransaction(
  facts: IndexedFacts,
  { txHash, limit }: { readonly txHash: Hash; readonly limit: number },
): Promise<Transaction> {
  const page = { order: "asc", after: null, finalizedOnly: false, limit } as const;
  const fills = await readFills(facts, { ...page, filter: { txHash } });
  const [first] = fills;
  // Its events are in the block of its fills. The range of that block spares a search of all events.
  const block = first === undefined ? null : toBlockNumber(first.seq);
  const range = block === null ? {} : { seqFrom: toFirstSeq(block), seqTo: toFirstSeq(block + 1) };
  return { fills, events: await readEvents(facts, { ...page, txHash, ...range }) };
}
