import type { Config } from "../base/config/config.ts";
import type { Contracts } from "../contracts/contracts.ts";
import { openFolder } from "./embedded/open-folder.ts";
import type { OpenEngine } from "./engine/engine.ts";
import { openDatabase, serverPlaceOf } from "./server/open-database.ts";

/** What opens the engine that a configuration names: the one in the process, or a server. */
export function chooseEngine(config: Config, contracts: Contracts): OpenEngine {
  const place = serverPlaceOf(config, contracts);
  return place === null ? openFolder : (dataDir) => openDatabase(place, dataDir);
}
