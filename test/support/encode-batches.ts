import type { ChainBatch } from "../../src/chain/raw-log.ts";
import type { LogDecoder } from "../../src/contracts/log-decoder.ts";
import {
  type ChainChange,
  type Derivation,
  deriveChanges,
  encodeFinal,
} from "../../src/feed/change.ts";
import type { EncodedBatch } from "../../src/storage/codec/encode-facts.ts";

async function* encodeBatches(
  batches: AsyncIterable<ChainBatch>,
  derivation: Derivation,
): AsyncGenerator<ChainBatch<EncodedBatch>> {
  for await (const batch of batches) {
    if (batch.kind !== "range") yield batch;
    else {
      const interval = { ...batch, blocks: [...batch.blocks] };
      yield { ...batch, blocks: await encodeFinal(interval, derivation) };
    }
  }
}

/** Turns batches into the changes that reach the pipeline. By default suspect blocks are not proven by receipts. */
export function getChanges(
  batches: AsyncIterable<ChainBatch>,
  decoder: LogDecoder,
  prove: Derivation["prove"] = async (block) => block,
): AsyncIterable<ChainChange> {
  const derivation = { decoder, prove };
  return deriveChanges(encodeBatches(batches, derivation), derivation);
}
