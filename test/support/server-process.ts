import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { waitFor } from "./wait-for.ts";

/** A server in a separate process with a temporary folder. It ends with the test's process. */
export abstract class ServerProcess {
  readonly folder: string;
  #child: ChildProcess | null = null;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Starts Python and waits until the server responds. `ended` is the error message if it exits instead. */
  protected async launch(
    words: readonly string[],
    stdio: SpawnOptions["stdio"],
    { answers, ended }: { answers: () => Promise<boolean>; ended: () => string },
  ): Promise<void> {
    // Detached: Ctrl-C reaches only this process, which first closes the users of the server.
    const child = spawn("python3", words, { stdio: stdio ?? "ignore", detached: true });
    this.#child = child;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.observed(text));
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

  /** Receives the server's standard error. */
  protected observed(_text: string): void {}

  /** Kills the server as a crash would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    // Without a process id it never started.
    if (child?.pid === undefined || hasEnded(child)) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error("the server does not run");
    return pid;
  }

  /** Suspends the process until `resume`: connections stay open without responses. */
  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  /** Kills the server and deletes its folder. A second call does nothing. */
  async close(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
