/** The entry of the command line. `exit-code.ts` maps failures to exit codes. */
import { styleText } from "node:util";
import { exitCodes } from "./command.ts";
import { buildProgram } from "./program.ts";

/** Runs the command given by `words`, and sets the exit code of the process. */
export async function runCli(words: readonly string[]): Promise<void> {
  endWithOutput();
  const program = buildProgram();
  try {
    if (words.length === 0) program.outputHelp();
    else await program.parseAsync(words, { from: "user" });
  } catch (thrown) {
    await reportFailure(thrown);
  }
}

async function reportFailure(thrown: unknown): Promise<void> {
  const { describeFailure } = await import("./exit-code.ts");
  const { code, text } = describeFailure(thrown);
  if (text !== "") process.stderr.write(`${styleText("red", text, { stream: process.stderr })}\n`);
  process.exitCode = code;
}

/** Ends when standard output cannot be written. Its reader may close it, as `head` does, which is not a failure. */
function endWithOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.done);
    void reportFailure(error).then(() => process.exit());
  });
}
