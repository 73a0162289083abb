import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { cleanUp } from "../clean-up.ts";
import { findFreePort } from "../free-port.ts";
import { ServerProcess } from "../server-process.ts";

const launcher = fileURLToPath(new URL("launch-redis.py", import.meta.url));

/**
 * Debian's redis-server on a free port of 127.0.0.1 with a temporary folder. It is a separate process, which ends with
 * the test or with the test's process. It saves nothing, so a restart empties it.
 */
export class RedisServer extends ServerProcess {
  readonly #port: number;

  private constructor(folder: string, port: number) {
    super(folder);
    this.#port = port;
  }

  /** Starts a server, and closes it after the test. */
  static async open(t: TestContext): Promise<RedisServer> {
    const server = await RedisServer.start();
    cleanUp(t, () => server.close());
    return server;
  }

  /** Starts a server that the caller has to close. */
  static async start(): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), "oddwire-redis-"));
    const server = new RedisServer(folder, await findFreePort());
    await server.restart();
    return server;
  }

  /** The address, which stays the same after a restart. */
  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** Kills the server if it runs, and starts it empty on the same port. */
  async restart(): Promise<void> {
    await this.kill();
    const options = ["--port", String(this.#port), "--bind", "127.0.0.1", "--dir", this.folder];
    const words = [launcher, ...options, "--save", "", "--appendonly", "no"];
    await this.launch(words, ["ignore", "ignore", "inherit"], {
      answers: () => this.#isListening(),
      ended: () => "redis-server has ended; is it installed?",
    });
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
