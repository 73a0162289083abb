#!/usr/bin/env node
import { cacheCompiledCode } from "./base/config/compile-cache.ts";
/** The entry point of the process. It sets up all that must be set before other modules load, then loads them. */
import { roles, setPoolThreads } from "./base/config/config.ts";
import { storeLimits } from "./base/config/limits.ts";
import { awaitSignal } from "./cli/service/await-signal.ts";

const words = process.argv.slice(2);
// Node's default of four threads, for files and host names, and one for each connection of the engine.
setPoolThreads(4 + storeLimits.writersMax + storeLimits.readersMax);
const role = roles.find((name) => name === words[0]);
if (role !== undefined) {
  cacheCompiledCode(role, words.slice(1));
  // A signal can arrive while modules are loading.
  void awaitSignal();
}
const { runCli } = await import("./cli/run-cli.ts");
await runCli(words);
