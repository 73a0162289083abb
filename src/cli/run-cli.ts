/** The entry of the command line. `exit-code.ts` maps failures to exit codes. */
import { styleText } from "node:util";
import { escapeForTerminal } from "../base/plain-text.ts";
import { exitCodes } from "./command.ts";
import { buildProgram } from "./program.ts";

/** Runs the command given by `words`, and sets the exit code of the process. */
export async function runCli(words: readonly string[]): Promise<void> {
  process.stdout.on("error", (error) => void endWithOutput(error));
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
  const shown = styleText("red", escapeForTerminal(text), { stream: process.stderr });
  if (text !== "") process.stderr.write(`${shown}\n`);
  process.exitCode = code;
}

/** Ends because standard output cannot be written. Its reader may have closed it, as `head` does: that is no failure. */
async function endWithOutput(error: NodeJS.ErrnoException): Promise<never> {
  if (error.code === "EPIPE") process.exit(exitCodes.done);
  await reportFailure(error);
  process.exit();
}
