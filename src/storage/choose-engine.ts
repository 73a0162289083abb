import type { Config } from "../base/config/config.ts";
import type { Contracts } from "../contracts/contracts.ts";
import { openFolder } from "./embedded/open-folder.ts";
import type { OpenEngine } from "./engine/engine.ts";

/** Returns the function that opens the configured engine: embedded, or a server, whose code is loaded on demand. */
export function chooseEngine(config: Config, contracts: Contracts): OpenEngine {
  if (config.clickhouseUrl === null) return openFolder;
  return async (dataDir) => {
    const { openDatabase, serverPlaceOf } = await import("./server/open-database.ts");
    return openDatabase(serverPlaceOf(config, contracts), dataDir);
  };
}
