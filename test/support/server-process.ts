import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { waitFor } from "./wait-for.ts";

/** A server in a process apart, with a folder of its own. It ends with the test's process. */
export abstract class ServerProcess {
  readonly folder: string;
  #child: ChildProcess | null = null;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Runs Python until the server answers; `ended` is what to say when it ends instead. */
  protected async launch(
    words: readonly string[],
    stdio: SpawnOptions["stdio"],
    { answers, ended }: { answers: () => Promise<boolean>; ended: () => string },
  ): Promise<void> {
    // Ctrl-C reaches this process alone, which closes what uses the server first.
    const child = spawn("python3", words, { stdio: stdio ?? "ignore", detached: true });
    this.#child = child;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.heard(text));
    let failure: Error | null = null;
    child.once("error", (error) => {
      failure = error;
    });
    await waitFor("the server", async () => {
      if (failure !== null) throw failure;
      if (hasEnded(child)) throw new Error(ended());
      return (await answers()) ? true : null;
    });
  }

  /** What it says on standard error. */
  protected heard(_text: string): void {}

  /** Kills it as a crash would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    // Without a number it never started.
    if (child?.pid === undefined || hasEnded(child)) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  /** Stops it without an exit, until `resume`: connections stay open and nothing is answered. */
  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  /** Kills it and deletes its folder. Does nothing the second time. */
  async close(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
