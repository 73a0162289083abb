/** Where indexing starts. */

import { type Config, ConfigError } from "../base/config/config.ts";
import type { Coverage } from "../chain/raw-log.ts";
import type { Contracts } from "../contracts/contracts.ts";
import { tieDataDirectory } from "../storage/directory/data-directory.ts";
import type { ChainChange } from "./change.ts";

/** What decides where indexing starts. */
export type IndexingStart = {
  readonly config: Config;
  readonly contracts: Contracts;
  /** The first block that the data directory was started with; `null` for a new directory. */
  readonly startedAt: number | null;
};

/** Returns the block that indexing starts with when nothing is stored yet. */
export function getStartBlock({ config, contracts, startedAt }: IndexingStart): number | "latest" {
  const requested = config.startBlock === "genesis" ? contracts.genesisBlock : config.startBlock;
  if (startedAt === null) return requested;
  // Blocks that were served once are served again, even if none of them was final yet.
  return requested === "latest" ? startedAt : Math.min(requested, startedAt);
}

/**
 * Throws `ConfigError` when the start block lies before the coverage, which only grows upwards: a gap below it would be
 * served as history without trades.
 */
export function refuseEarlierStart(start: IndexingStart, covered: Coverage | null): void {
  const { config } = start;
  const block = getStartBlock(start);
  if (covered === null || block === "latest" || block >= covered.fromBlock) return;
  throw new ConfigError([
    `ODDWIRE_START_BLOCK=${config.startBlock} is before block ${covered.fromBlock}, where ` +
      `${config.dataDir} starts; use another ODDWIRE_DATA_DIR for an earlier start`,
  ]);
}

/** Passes on the changes of a chain of which nothing is stored. Records the start block before the first. */
export async function* recordingStart(
  changes: AsyncIterable<ChainChange>,
  start: IndexingStart,
): AsyncGenerator<ChainChange, void, undefined> {
  let isRecorded = false;
  for await (const change of changes) {
    if (!isRecorded && (change.kind === "range" || change.kind === "block")) {
      const first = change.kind === "range" ? change.batch.fromBlock : change.block.number;
      await tieDataDirectory(start, first);
      isRecorded = true;
    }
    yield change;
  }
}
