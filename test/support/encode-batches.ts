import type { ChainBatch } from "../../src/chain/log.ts";
import { encodeFinal } from "../../src/chain-news.ts";
import type { LogDecoder } from "../../src/decode/log-decoder.ts";
import type { EncodedBatch } from "../../src/store/encode-facts.ts";

/** Batches with their final blocks encoded, as the thread of the chain has them told. */
export async function* encodeBatches(
  batches: AsyncIterable<ChainBatch>,
  decoder: LogDecoder,
): AsyncGenerator<ChainBatch<EncodedBatch>> {
  for await (const batch of batches) {
    if (batch.kind !== "blocks" || !batch.finalized) yield batch;
    else {
      const stretch = { ...batch, blocks: [...batch.blocks] };
      yield { ...batch, blocks: encodeFinal(stretch, decoder) };
    }
  }
}
