/** The entry of the command line. `exit-code.ts` maps failures to exit codes. */
import { styleText } from "node:util";
import { exitCodes } from "./command.ts";
import { buildProgram } from "./program.ts";

/** Runs the command given by `words`, and sets the exit code of the process. */
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

/** Exits with 0 when the reader of standard output closes it, as `head` does. That is not a failure. */
function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.done);
    throw error;
  });
}
