import { assert } from "../base/assert.ts";
import type { Config } from "../base/config/config.ts";
import type { Contracts } from "../contracts/contracts.ts";
import { openFolder } from "./embedded/open-folder.ts";
import type { Engine, OpenEngine } from "./engine/engine.ts";
import { type Coverage, readCoverage } from "./recover.ts";

/** Facts, and what of them the commit records commit. */
export type CommittedFacts = { readonly engine: Engine; readonly coverage: Coverage | null };

/** What opens the engine that a configuration names: the one in the process, or a server, whose code is loaded then. */
export function chooseEngine(config: Config, contracts: Contracts): OpenEngine {
  if (config.clickhouseUrl === null) return openFolder;
  return async (dataDir) => {
    const { openDatabase, serverPlaceOf } = await import("./server/open-database.ts");
    const place = serverPlaceOf(config, contracts);
    assert(place !== null, "a server is configured");
    return openDatabase(place, dataDir);
  };
}

/**
 * Connects to the server that a configuration names, to read what is committed there; `null` for the engine in the
 * process. Waits for replicas that are behind, as `readReplicated` does.
 */
export async function openServerToRead(
  config: Config,
  contracts: Contracts,
  onWaiting: (reason: string) => void,
): Promise<CommittedFacts | null> {
  if (config.clickhouseUrl === null) return null;
  const { openDatabaseToRead, serverPlaceOf } = await import("./server/open-database.ts");
  const place = serverPlaceOf(config, contracts);
  assert(place !== null, "a server is configured");
  const engine = await openDatabaseToRead(place, config.dataDir);
  try {
    if (place.cluster === null) return { engine, coverage: await readCoverage(engine) };
    const { readReplicated } = await import("./server/until-replicated.ts");
    return { engine, coverage: await readReplicated(engine, onWaiting) };
  } catch (thrown) {
    await engine.close();
    throw thrown;
  }
}
