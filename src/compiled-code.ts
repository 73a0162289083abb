/**
 * Compiled code is kept in the data folder: with it a start takes more than half a second of processor
 * time less, which after a crash is time without answers. The folder is ours alone; the usual place for temporary files
 * is not, and code is run from here.
 */
import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import { setCompiledCodeFolder } from "./base/config.ts";

/**
 * Keeps what is loaded from now on, here, in threads and when the process begins anew, and takes from
 * there what was kept; without it all works too.
 */
export function keepCompiledCode(dataDir: string): void {
  const folder = join(dataDir, "compiled");
  setCompiledCodeFolder(folder);
  enableCompileCache(folder);
}

/**
 * Writes down what this thread has compiled up to now, so that a start after a crash has it too. The
 * first time that is a pause of some tenths of a second, which grows with what has been run; later there is
 * nothing to write.
 */
export function saveCompiledCode(): void {
  flushCompileCache();
}
