import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { cleanUp } from "../clean-up.ts";
import { findFreePort } from "../free-port.ts";
import { waitFor } from "../wait-for.ts";

const launcher = fileURLToPath(new URL("launch-redis.py", import.meta.url));

/**
 * Debian's redis-server on a free port of 127.0.0.1 with a folder of its own: a process apart, which ends with the test, or
 * with the test's process. It saves nothing, so a restart empties it.
 */
export class RedisServer {
  readonly #folder: string;
  readonly #port: number;
  #child: ChildProcess | null = null;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  /** Starts one, which is closed after the test. */
  static async open(t: TestContext): Promise<RedisServer> {
    const server = await RedisServer.start();
    cleanUp(t, () => server.close());
    return server;
  }

  /** The same, to be closed by the caller. */
  static async start(): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), "oddwire-redis-"));
    const server = new RedisServer(folder, await findFreePort());
    await server.restart();
    return server;
  }

  /** Stays the same when it restarts. */
  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** Kills it as a crash would; all it held is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child?.pid === undefined || hasEnded(child)) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  /** Kills it, if it runs, and starts it on the same port: empty. */
  async restart(): Promise<void> {
    await this.kill();
    const options = ["--port", String(this.#port), "--bind", "127.0.0.1", "--dir", this.#folder];
    const child = spawn("python3", [launcher, ...options, "--save", "", "--appendonly", "no"], {
      stdio: ["ignore", "ignore", "inherit"],
      // Ctrl-C reaches this process alone, which closes what uses the server first.
      detached: true,
    });
    this.#child = child;
    await waitFor("the Redis server", async () => {
      if (hasEnded(child)) throw new Error("redis-server has ended; is it installed?");
      return (await this.#isListening()) ? true : null;
    });
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
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #isListening(): Promise<boolean> {
    const socket = createConnection({ host: "127.0.0.1", port: this.#port });
    try {
      await once(socket, "connect");
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
