/** The tests of stores, in one process: they share code that is compiled already. */
import { runFiles } from "./support/run-files.ts";

runFiles(["test/store/**/*.test.ts"]);
