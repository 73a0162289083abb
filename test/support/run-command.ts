import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { cli } from "./cli.ts";
import { systemSettings } from "./system-settings.ts";

export type Finished = { readonly code: number; readonly stdout: string; readonly stderr: string };

/**
 * Runs `oddwire` to its end with these settings. Settings of the caller's environment are not passed on. `onError`
 * receives the standard error as it comes.
 */
export async function runCommand(
  words: readonly string[],
  settings: Readonly<Record<string, string>> = {},
  onError: (text: string) => void = () => {},
): Promise<Finished> {
  const child = startProgram(process.execPath, [cli, ...words], settings);
  child.stderr.setEncoding("utf8").on("data", onError);
  return untilFinished(child);
}

/** Runs a program to its end with an empty standard input. */
export async function runProgram(
  program: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return untilFinished(startProgram(program, words, settings));
}

function startProgram(
  program: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
): ChildProcessByStdio<null, Readable, Readable> {
  const env = { ...systemSettings(), ...settings };
  return spawn(program, words, { env, stdio: ["ignore", "pipe", "pipe"] });
}

async function untilFinished(
  child: ChildProcessByStdio<null, Readable, Readable>,
): Promise<Finished> {
  const [[code], stdout, stderr] = await Promise.all([
    once(child, "close") as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}
