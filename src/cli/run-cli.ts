/** The command line: runs the command and sets the exit code; `exit-code.ts` has the codes of failures. */
import { styleText } from "node:util";
import { exitCodes } from "./command.ts";
import { buildProgram } from "./program.ts";

/** Runs the command that the words name, and sets the exit code of the process. */
export async function runCli(words: readonly string[]): Promise<void> {
  endWithReader();
  const program = buildProgram();
  try {
    if (words.length === 0) program.outputHelp();
    else await program.parseAsync(words, { from: "user" });
  } catch (thrown) {
    const { describeFailure } = await import("./exit-code.ts");
    const { code, text } = describeFailure(thrown);
    if (text !== "")
      process.stderr.write(`${styleText("red", text, { stream: process.stderr })}\n`);
    process.exitCode = code;
  }
}

/** The reader of our output may stop, as `head` does; that is not a failure. */
function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.done);
    throw error;
  });
}
