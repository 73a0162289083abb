import { type ChildProcess, spawn } from "node:child_process";
import { on, once } from "node:events";
import { fileURLToPath } from "node:url";
import { waitUntilReady } from "./wait-patiently.ts";

export type ChildOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The target of its standard error: a file descriptor, or that of this process. */
  readonly stderr: number | "inherit";
};

const leash = fileURLToPath(new URL("./leash.ts", import.meta.url));

/**
 * A process that ends on `close`, and at the latest when this process ends. It has its own process group, so that
 * Ctrl-C reaches only the demo, which then stops its processes in order.
 */
export class Child {
  readonly #name: string;
  readonly #process: ChildProcess;
  readonly #exited: Promise<number>;

  constructor(name: string, { command, args, env, stderr }: ChildOptions) {
    this.#name = name;
    this.#process = spawn(process.execPath, [leash, command, ...args], {
      env,
      stdio: ["pipe", "pipe", stderr],
      detached: true,
    });
    this.#exited = once(this.#process, "exit").then(([code]) => (code as number | null) ?? 1);
  }

  /** Rejects as soon as the process has ended; never resolves. */
  async failed(): Promise<never> {
    throw new Error(`${this.#name} has ended (exit code ${await this.#exited})`);
  }

  /** Waits until its standard output matches. Returns the text of the first group. */
  waitForOutput(pattern: RegExp, stop: AbortSignal): Promise<string> {
    return waitUntilReady(this.#name, stop, (signal) => this.#readUntil(pattern, signal));
  }

  /** Stops the process in order. Resolves to false if it had to be killed or had failed before. */
  async close(): Promise<boolean> {
    this.#process.stdin?.end();
    return (await this.#exited) === 0;
  }

  async #readUntil(pattern: RegExp, signal: AbortSignal): Promise<string> {
    const { stdout } = this.#process;
    if (stdout === null) return this.failed();
    let output = "";
    try {
      const chunks = on(stdout, "data", { signal, close: ["end"] });
      for await (const [chunk] of chunks as AsyncIterable<[Buffer]>) {
        output += chunk.toString();
        const caught = pattern.exec(output)?.[1];
        if (caught !== undefined) return caught;
      }
    } finally {
      // Nothing reads the output from here on, and a full pipe would block the child.
      stdout.resume();
    }
    return this.failed();
  }
}
