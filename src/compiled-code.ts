/**
 * Compiled code is kept in the data folder: with it a start takes half a second of processor time less, which
 * after a crash is time without answers. The folder is ours alone; the usual place for temporary files
 * is not, and code is run from here.
 */
import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import { ConfigError, readConfig } from "./base/config.ts";

/** Keeps what is loaded from now on, and takes from there what was kept; without it all works too. */
export function keepCompiledCode(): void {
  try {
    enableCompileCache(join(readConfig("serve").dataDir, "compiled"));
  } catch (thrown) {
    // Whoever needs the configuration tells what is wrong with it.
    if (!(thrown instanceof ConfigError)) throw thrown;
  }
}

/** Writes down what was compiled, so that it is there after a crash too. Some tenths of a second at first. */
export function saveCompiledCode(): void {
  flushCompileCache();
}
