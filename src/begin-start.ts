/** What a start of the service begins with before its modules are loaded, which takes a while. */
import { ConfigError, readConfig } from "./base/config.ts";
import { boundMemory } from "./bounded-memory.ts";
import { keepCompiledCode } from "./compiled-code.ts";
import { beginColumns } from "./store/columns-ahead.ts";
import { makeDataFolder } from "./store/make-data-folder.ts";

/** To be called before anything else: the process may begin anew here. */
export function beginStart(): void {
  try {
    const { dataDir } = readConfig("serve");
    makeDataFolder(dataDir);
    keepCompiledCode(dataDir);
    boundMemory();
    beginColumns(dataDir);
  } catch (thrown) {
    // Whoever needs the configuration, or the folder, tells what is wrong with it.
    if (!(thrown instanceof ConfigError)) throw thrown;
  }
}
