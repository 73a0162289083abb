import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { cli } from "./cli.ts";
import { systemSettings } from "./system-settings.ts";

export type Finished = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs `oddwire` to its end with these settings. Settings of the caller's environment are not passed on. */
export async function runCommand(
  words: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return runProgram(process.execPath, [cli, ...words], settings);
}

/** Runs a program to its end with an empty standard input. */
export async function runProgram(
  program: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const env = { ...systemSettings(), ...settings };
  const child = spawn(program, words, { env, stdio: ["ignore", "pipe", "pipe"] });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, "close") as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}
