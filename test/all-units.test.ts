/**
 * The tests next to the code, in one process: each takes milliseconds, and a process of its own for each file cost
 * more than all of them.
 */
import { runFiles } from "./support/run-files.ts";

runFiles(["src/**/*.test.ts"]);
