import type { Block, ChainBatch } from "../../src/chain/raw-log.ts";
import type { ChainSource } from "../../src/chain/sync/chain-source.ts";
import type { Derivation } from "../../src/feed/change.ts";
import type { GeneratedBlock } from "../support/generate-chain.ts";
import type { SimulatedWorld } from "../support/simulated-world.ts";

/** Records the logs that a source last emitted for each block. */
export class AnnouncedBlocks {
  readonly #logs = new Map<string, ReadonlySet<number>>();

  /** Records the logs of the batches and passes the batches on. */
  async *listen(batches: AsyncIterable<ChainBatch>): AsyncGenerator<ChainBatch> {
    for await (const batch of batches) {
      if (batch.kind === "range") for (const block of batch.blocks) this.#record(block);
      else if (batch.kind === "block") this.#record(batch.block);
      yield batch;
    }
  }

  /** Returns a function that proves blocks by the source, and records the proven logs as emitted. */
  getProofs(source: ChainSource): Derivation["prove"] {
    return async (block, isFinal) => {
      const proven = await source.prove(block, isFinal);
      this.#record(proven);
      return proven;
    };
  }

  /**
   * The canonical chain, without logs that were not emitted and whose loss is undetectable. All other
   * logs are included, even if they were not emitted.
   */
  getChain(world: SimulatedWorld): GeneratedBlock[] {
    return world.blocks.map((block) => {
      const reported = this.#logs.get(block.hash);
      const logs = block.logs.filter(
        (log) => reported?.has(log.logIndex) || !world.losses.has(log),
      );
      return { block: { ...block, logs }, fills: [] };
    });
  }

  #record({ hash, logs }: Block): void {
    this.#logs.set(hash, new Set(logs.map(({ logIndex }) => logIndex)));
  }
}
