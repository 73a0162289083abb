/**
 * The command line: finds the command, reads its words, runs it, and turns what goes wrong into an
 * exit code: 0 done, 1 a failure, 2 wrong use or settings (or a check found differences), 70 a bug, 75 try again. The commands are in
 * `cli/`.
 */
import { ConfigError, readEnvFile } from "../base/config/config.ts";
import { version } from "../base/config/version.ts";
import { AppError, toError } from "../base/errors.ts";
import { WrongChainError } from "../chain/chain-errors.ts";
import {
  DataFolderBusyError,
  DataFolderDamagedError,
  DataFolderUnwritableError,
} from "../storage/embedded/data-folder-errors.ts";
import { ClaimedElsewhereError } from "../storage/server/claims.ts";
import { exitCodes, UsageError } from "./command.ts";
import { commands } from "./commands.ts";
import { formatCommand, formatOverview } from "./help.ts";
import { paintFor } from "./paint.ts";
import { findCommand, readWords } from "./read-words.ts";
import { NodesSilentError } from "./service/with-proof.ts";

/** Runs the command that the words name; its exit code. */
export async function runCli(words: readonly string[]): Promise<number> {
  endWithReader();
  try {
    return await runCommand(words);
  } catch (thrown) {
    const error = toError(thrown);
    const code = exitCodeOf(error);
    const text = code === exitCodes.bug ? String(error.stack) : plain(error);
    process.stderr.write(`${paintFor(process.stderr)("red", text)}\n`);
    return code;
  }
}

async function runCommand(words: readonly string[]): Promise<number> {
  const [first = "help", ...rest] = words;
  if (first === "--version") return print(`${version}\n`);
  if (first === "help" || isHelp(first)) return help(rest);
  // After the name of a group it asks for all of its commands.
  if (isHelp(rest[0] ?? "")) return help([first]);
  const call = findCommand(commands, words);
  readEnvFile();
  if (call.rest.some(isHelp)) return help(call.command.name.split(" "));
  return call.command.run(readWords(call));
}

function help(words: readonly string[]): number {
  const paint = paintFor(process.stdout);
  if (words.length === 0) return print(formatOverview(commands, paint));
  const group = commands.filter(({ name }) => `${name} `.startsWith(`${words.join(" ")} `));
  const shown = group.length > 0 ? group : [findCommand(commands, words).command];
  return print(shown.map((command) => formatCommand(command, paint)).join("\n"));
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}

function print(text: string): number {
  process.stdout.write(text);
  return exitCodes.done;
}

/** Who reads our output may stop, as `head` does; that is no failure of ours. */
function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.done);
    throw error;
  });
}

function exitCodeOf(error: Error): number {
  const isPassing = [
    DataFolderBusyError,
    DataFolderUnwritableError,
    NodesSilentError,
    ClaimedElsewhereError,
  ];
  if (isPassing.some((kind) => error instanceof kind)) return exitCodes.tryAgain;
  if (error instanceof AppError && error.code === "SERVICE_UNAVAILABLE") return exitCodes.tryAgain;
  if (error instanceof ConfigError || error instanceof UsageError) return exitCodes.misused;
  const isFailure = [WrongChainError, DataFolderDamagedError, AppError];
  return isFailure.some((kind) => error instanceof kind) || isAddressError(error)
    ? exitCodes.failed
    : exitCodes.bug;
}

/** A port in use or a host that is not ours is a setting that does not fit. */
function isAddressError(error: Error): boolean {
  return ["EADDRINUSE", "EADDRNOTAVAIL", "EACCES"].includes(
    (error as NodeJS.ErrnoException).code ?? "",
  );
}

function plain(error: Error): string {
  // What clients are not shown, such as the name of a server, is for people here.
  if (error instanceof AppError && error.cause instanceof Error) return plain(error.cause);
  if (!(error instanceof ConfigError)) return `oddwire: ${error.message}`;
  const mistakes = error.mistakes.map((mistake) => `  - ${mistake}`);
  return ["oddwire: the configuration is not right:", ...mistakes].join("\n");
}
