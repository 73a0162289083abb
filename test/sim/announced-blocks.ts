import type { Block, ChainBatch } from "../../src/chain/raw-log.ts";
import type { ChainSource } from "../../src/chain/sync/chain-source.ts";
import type { Derivation } from "../../src/feed/change.ts";
import type { GeneratedBlock } from "../support/generate-chain.ts";
import type { SimulatedWorld } from "../support/simulated-world.ts";

/** Which logs a source last emitted for each block. */
export class AnnouncedBlocks {
  readonly #logs = new Map<string, ReadonlySet<number>>();

  /** Hands the batches on. */
  async *listen(batches: AsyncIterable<ChainBatch>): AsyncGenerator<ChainBatch> {
    for await (const batch of batches) {
      if (batch.kind === "range") for (const block of batch.blocks) this.#note(block);
      else if (batch.kind === "block") this.#note(batch.block);
      yield batch;
    }
  }

  /** What the source proves of blocks counts as sent. */
  proofsOf(source: ChainSource): Derivation["prove"] {
    return async (block, isFinal) => {
      const proven = await source.prove(block, isFinal);
      this.#note(proven);
      return proven;
    };
  }

  /**
   * The one true chain, without those logs that were not sent and whose loss nothing could have
   * seen. Any other log that was not sent is still in it.
   */
  chainOf(world: SimulatedWorld): GeneratedBlock[] {
    return world.blocks.map((block) => {
      const reported = this.#logs.get(block.hash);
      const logs = block.logs.filter(
        (log) => reported?.has(log.logIndex) || !world.losses.has(log),
      );
      return { block: { ...block, logs }, fills: [] };
    });
  }

  #note({ hash, logs }: Block): void {
    this.#logs.set(hash, new Set(logs.map(({ logIndex }) => logIndex)));
  }
}
