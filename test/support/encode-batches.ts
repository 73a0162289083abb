import type { ChainBatch } from "../../src/chain/raw-log.ts";
import type { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { encodeFinal } from "../../src/feed/change.ts";
import type { EncodedBatch } from "../../src/storage/codec/encode-facts.ts";

/** Batches with their final blocks encoded, as the thread of the chain has them reported. */
export async function* encodeBatches(
  batches: AsyncIterable<ChainBatch>,
  decoder: LogDecoder,
): AsyncGenerator<ChainBatch<EncodedBatch>> {
  for await (const batch of batches) {
    if (batch.kind !== "blocks" || !batch.finalized) yield batch;
    else {
      const interval = { ...batch, blocks: [...batch.blocks] };
      yield { ...batch, blocks: encodeFinal(interval, decoder) };
    }
  }
}
