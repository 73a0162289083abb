import assert from "node:assert/strict";
import { toTimedBlock } from "../../src/chain/raw-log.ts";
import { AppendGroup } from "../../src/storage/append/append-group.ts";
import { FactStore } from "../../src/storage/append/fact-store.ts";
import { decodeDelta } from "../../src/storage/codec/decode-delta.ts";
import { type EncodedBatch, encodeFacts } from "../../src/storage/codec/encode-facts.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";

/** Appends final blocks that follow the last append, in a group of their own. The views of indexed facts apply them. */
export async function appendFacts(
  store: FactStore | IndexedFacts,
  batch: EncodedBatch,
): Promise<void> {
  if (store instanceof FactStore) return write(store, batch);
  await write(store.writer, batch);
  store.store.cover(batch);
  store.apply(decodeDelta(batch, batch.rows));
}

/** Moves the unfinalized blocks up to and including `toBlock` to the store. */
export async function finalizeFacts(facts: IndexedFacts, toBlock: number): Promise<void> {
  const final = facts.headBuffer.through(toBlock);
  const [first, last] = [final[0], final.at(-1)];
  if (first === undefined || last === undefined) return;
  const batch = encodeFacts({ fromBlock: first.number, last: toTimedBlock(last) }, final);
  await write(facts.writer, batch);
  facts.cover(batch);
}

async function write(store: FactStore | null, batch: EncodedBatch): Promise<void> {
  assert(store !== null, "this process writes the facts");
  const group = new AppendGroup(store.engine);
  try {
    await group.add(batch);
    await store.writeFacts(group);
    await store.commit(group);
  } finally {
    await group.close();
  }
}
