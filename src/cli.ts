#!/usr/bin/env node
/**
 * Where the process begins. Everything else is loaded from here, so that it can be told before where
 * compiled code is kept, and how many threads there are.
 */
import { setPoolThreads } from "./base/config.ts";
import { storeLimits } from "./base/limits.ts";
import { holdTickShape } from "./base/tick-shape.ts";
import { beginStart } from "./begin-start.ts";
import { awaitSignal } from "./cli/await-signal.ts";

holdTickShape();
const words = process.argv.slice(2);
// As many as Node has usually, for files and names, and one for each connection of the engine.
setPoolThreads(4 + storeLimits.writersMax + storeLimits.readersMax);
if (words[0] === "serve") {
  beginStart();
  // Not before: what a process was told is lost when it begins anew. Loading the rest takes a while.
  void awaitSignal();
}
const { runCli } = await import("./cli/run-cli.ts");
process.exitCode = await runCli(words);
