import { CommanderError } from "commander";
import { ConfigError } from "../base/config/config.ts";
import { AppError, StartAgainError, toError } from "../base/errors.ts";
import { WrongChainError } from "../chain/chain-errors.ts";
import { LakeError } from "../lake/lake-error.ts";
import {
  DataDirectoryBusyError,
  DataDirectoryUnwritableError,
  StoreDamagedError,
} from "../storage/engine/store-errors.ts";
import { CommandError, exitCodes, UsageError } from "./command.ts";

/** Returns the exit code and the message of a failure: 1 failure, 2 wrong use or settings, 70 bug, 75 try again. */
export function describeFailure(thrown: unknown): { code: number; text: string } {
  const error = toError(thrown);
  // Closing has failed too. The first error is the reason.
  if (error instanceof SuppressedError) return describeFailure(error.suppressed);
  if (error instanceof CommanderError) return describeMisuse(error);
  const code = getExitCode(error);
  return { code, text: code === exitCodes.bug ? String(error.stack) : plain(error) };
}

/** Describes an error of commander. Help and version have exit code 0; a group without a command shows its help. */
function describeMisuse({ code, exitCode, message }: CommanderError) {
  if (exitCode === 0) return { code: exitCodes.done, text: "" };
  if (code === "commander.help") return { code: exitCodes.misused, text: "" };
  const sentence = message.replace(/^error: /, "").replaceAll("\n", " ");
  return { code: exitCodes.misused, text: `oddwire: ${sentence}` };
}

function getExitCode(error: Error): number {
  const isPassing = [DataDirectoryBusyError, DataDirectoryUnwritableError, StartAgainError];
  if (isPassing.some((kind) => error instanceof kind) || isDiskError(error))
    return exitCodes.tryAgain;
  if (error instanceof AppError && error.code === "SERVICE_UNAVAILABLE") return exitCodes.tryAgain;
  if (error instanceof ConfigError || error instanceof UsageError) return exitCodes.misused;
  const isFailure = [WrongChainError, StoreDamagedError, LakeError, CommandError, AppError];
  return isFailure.some((kind) => error instanceof kind) || isAddressError(error)
    ? exitCodes.failed
    : exitCodes.bug;
}

/** Whether a disk is full or fails. */
function isDiskError(error: Error): boolean {
  return isDiskFull(error) || (error as NodeJS.ErrnoException).code === "EIO";
}

function isDiskFull(error: Error): boolean {
  if (error instanceof DataDirectoryUnwritableError) return error.isDiskFull;
  return ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Whether the service cannot listen: the port is in use or not allowed, or the host is unknown or of another machine. */
function isAddressError(error: Error): boolean {
  const codes = ["EADDRINUSE", "EADDRNOTAVAIL", "EACCES", "ENOTFOUND", "EAI_AGAIN"];
  return codes.includes((error as NodeJS.ErrnoException).code ?? "");
}

function plain(error: Error): string {
  // Operators see the cause, such as the name of a server. Clients do not.
  if (error instanceof AppError && error.cause instanceof Error) return plain(error.cause);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return portTaken(error);
  if (syscall === "getaddrinfo")
    return `oddwire: ODDWIRE_HOST cannot be resolved: ${error.message}`;
  if (isDiskFull(error)) return `oddwire: ${error.message}; free space, then try again`;
  if (!(error instanceof ConfigError)) return `oddwire: ${error.message}`;
  const mistakes = error.mistakes.map((mistake) => `  - ${mistake}`);
  return ["oddwire: the configuration is invalid:", ...mistakes].join("\n");
}

function portTaken(error: Error): string {
  const { address, port } = error as { readonly address?: string; readonly port?: number };
  const names = "--port, ODDWIRE_PORT or ODDWIRE_METRICS_PORT";
  return `oddwire: port ${port} of ${address} is already in use; set another (${names})`;
}
