#!/usr/bin/env node
/** The entry point of the process. It sets up all that must be set before other modules load, then loads them. */
import { setPoolThreads } from "./base/config/config.ts";
import { storeLimits } from "./base/config/limits.ts";

// Node's default of four threads, for files and host names, and one for each connection of the engine.
setPoolThreads(4 + storeLimits.writersMax + storeLimits.readersMax);
const { runCli } = await import("./cli/run-cli.ts");
await runCli(process.argv.slice(2));
