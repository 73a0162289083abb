/**
 * Run as `node run-locked.ts DATA_DIR PROGRAM ARGUMENTS...`: runs a program while no service can use a data directory.
 * Ends with the exit code of the program, or with 75 if the folder is in use.
 */
import { spawnSync } from "node:child_process";
import { describeFailure } from "../src/cli/exit-code.ts";
import { lockDataDirectory } from "../src/storage/directory/data-directory.ts";

const [dataDir = "", program = "", ...words] = process.argv.slice(2);
try {
  const unlock = lockDataDirectory(dataDir);
  const { status, error } = spawnSync(program, words, { stdio: "inherit" });
  unlock();
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
} catch (thrown) {
  const { code, text } = describeFailure(thrown);
  process.stderr.write(`${text}\n`);
  process.exitCode = code;
}
