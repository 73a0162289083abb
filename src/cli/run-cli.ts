/** The entry of the command line. `exit-code.ts` maps failures to exit codes. */
import { styleText } from "node:util";
import { escapeForTerminal } from "../base/plain-text.ts";
import { closeOpenParts, exitCodes } from "./command.ts";
import { buildProgram } from "./program.ts";

/** Runs the command given by `words`, and sets the exit code of the process. */
export async function runCli(words: readonly string[]): Promise<void> {
  process.stdout.once("error", (error) => void endWithOutput(error));
  // Writes that were already under way fail too.
  process.stdout.on("error", () => undefined);
  const program = buildProgram();
  try {
    if (words.length === 0) program.outputHelp();
    else await program.parseAsync(words, { from: "user" });
  } catch (thrown) {
    // What was closed because of the output fails, too.
    if (!process.stdout.errored) await reportFailure(thrown);
  }
}

async function reportFailure(thrown: unknown): Promise<void> {
  const { describeFailure } = await import("./exit-code.ts");
  const { code, text } = describeFailure(thrown);
  const styled = styleText("red", escapeForTerminal(text), { stream: process.stderr });
  if (text !== "") process.stderr.write(`${styled}\n`);
  process.exitCode = code;
}

/**
 * Ends because standard output cannot be written. Its reader may have closed it, as `head` does: that is no failure, so
 * the exit code is the one that the command has set by then.
 */
async function endWithOutput(error: NodeJS.ErrnoException): Promise<never> {
  await closeOpenParts();
  if (error.code !== "EPIPE") {
    const message = `standard output cannot be written: ${error.message}`;
    await reportFailure(Object.assign(new Error(message), { code: error.code }));
  }
  process.exit(process.exitCode ?? exitCodes.done);
}
