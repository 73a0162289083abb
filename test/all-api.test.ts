/** The tests of the API and of the stream, in one process: starting takes longer than most of these files. */
import { runFiles } from "./support/run-files.ts";

runFiles(["test/api/**/*.test.ts", "test/stream/**/*.test.ts"]);
