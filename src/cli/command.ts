import { styleText } from "node:util";
import type { Command } from "commander";
import { escapeForTerminal } from "../base/plain-text.ts";

/** The exit codes of the process. */
export const exitCodes = {
  done: 0,
  failed: 1,
  misused: 2,
  differs: 2,
  bug: 70,
  tryAgain: 75,
} as const;

/** A mistake in the arguments of `oddwire`. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** A command failed for a reason that its message explains. */
export class CommandError extends Error {
  override name = "CommandError";
}

/** Writes lines to standard output, safe for a terminal. Returns the exit code of success. */
export function print(...lines: readonly string[]): number {
  for (const line of lines) process.stdout.write(`${escapeForTerminal(line)}\n`);
  return exitCodes.done;
}

/**
 * Writes a text that nothing keeps, such as a new key. If it cannot be written, the process fails, also where a closed
 * pipe is no failure, and `advice` on standard error says how to go on.
 */
export async function printOnce(text: string, advice: string): Promise<number> {
  process.exitCode = exitCodes.failed;
  const failure = await new Promise<Error | null | undefined>((resolve) => {
    process.stdout.write(text, resolve);
  });
  if (failure) {
    process.stderr.write(`oddwire: ${advice}\n`);
    return exitCodes.failed;
  }
  process.exitCode = undefined;
  return exitCodes.done;
}

/** What has to be closed before the process may exit: the embedded engine crashes an exit while it is open. */
const openParts = new Set<() => Promise<void>>();

/** Closes a part also when the process ends because standard output cannot be written. Returns how to end that. */
export function closeBeforeExit(close: () => Promise<void>): () => void {
  openParts.add(close);
  return () => openParts.delete(close);
}

/** Closes what `closeBeforeExit` has registered, the newest first. */
export async function closeOpenParts(): Promise<void> {
  for (const close of [...openParts].toReversed()) await close().catch(() => undefined);
}

/** Sets the exit code in case the process ends before its command does. */
export function setExitCode(code: number): void {
  process.exitCode = code;
}

/** Formats rows as a text table. Each column is as wide as its longest cell. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row
      .map((word, column) => word.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return lines.join("\n");
}

/** Adds examples to the help of a command. */
export function addExamples(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  ${example}`);
  return command.addHelpText("after", `\n${styleText("bold", "Examples:")}\n${lines.join("\n")}`);
}

/**
 * Returns an action for commander. The module of a command is loaded only when the command runs, so that
 * help and completion start quickly. The work resolves with the exit code.
 */
export function lazily<Given extends readonly unknown[]>(
  load: () => Promise<(...given: Given) => Promise<number>>,
): (...given: Given) => Promise<void> {
  return async (...given) => {
    const work = await load();
    process.exitCode = await work(...given);
  };
}

/** Ends the process with exit code 0 after `delayMs`, unless it ends by then. Reports why on standard error. */
export function endIn(delayMs: number, why: string): void {
  const end = () => {
    process.stderr.write(`oddwire: ${why}\n`);
    process.exit(exitCodes.done);
  };
  setTimeout(end, delayMs).unref();
}
