import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { demoChainId } from "./anvil.ts";
import { Child } from "./child.ts";

export type ServiceOptions = {
  readonly rpcUrl: string;
  readonly contractsFile: string;
  readonly dataDir: string;
  /** A file descriptor. */
  readonly log: number;
  readonly key: string;
  /** Where its order books come from. */
  readonly venue: Readonly<Record<string, string>>;
  /** Where it should listen; any other when that is taken. */
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
};

const startMsMax = 20_000;
const readyMsMax = 30_000;
const readyPauseMs = 100;
const cli = fileURLToPath(new URL("../src/cli.ts", import.meta.url));

/** The service itself, as its users start it. */
export class Service {
  readonly baseUrl: string;
  readonly #child: Child;
  readonly #key: string;

  private constructor(child: Child, baseUrl: string, key: string) {
    this.#child = child;
    this.baseUrl = baseUrl;
    this.#key = key;
  }

  /** Starts it and waits until it listens. */
  static async open(options: ServiceOptions): Promise<Service> {
    const { key, port, log, env } = options;
    const settings = {
      ODDWIRE_RPC_URLS: options.rpcUrl,
      ODDWIRE_CHAIN_ID: String(demoChainId),
      ODDWIRE_START_BLOCK: "0",
      ODDWIRE_CONTRACTS_FILE: options.contractsFile,
      ODDWIRE_DATA_DIR: options.dataDir,
      ODDWIRE_ADMIN_KEY: key,
      ...options.venue,
      ODDWIRE_PORT: String((await isFree(port)) ? port : 0),
    };
    const child = new Child("the service (log: .demo/service.log)", {
      command: process.execPath,
      args: [cli, "serve"],
      env: { ...env, ...settings },
      stderr: log,
    });
    try {
      const baseUrl = await child.waitForOutput(/"listening": ?"([^"]+)"/, startMsMax);
      return new Service(child, baseUrl, key);
    } catch (error) {
      await child.close();
      throw error;
    }
  }

  /** Throws when it ends without being asked to. */
  failed(): Promise<never> {
    return this.#child.failed();
  }

  get port(): number {
    return Number(new URL(this.baseUrl).port);
  }

  /** Waits until it has caught up with the chain. */
  async waitReady(): Promise<void> {
    const deadlineMs = performance.now() + readyMsMax;
    while (performance.now() < deadlineMs) {
      if ((await fetch(`${this.baseUrl}/v1/ready`)).ok) return;
      await pause(readyPauseMs);
    }
    throw new Error(`the service did not catch up within ${readyMsMax / 1000} s`);
  }

  /** The first token of the market that traded most in the last 24 hours. */
  async fetchBusiestToken(): Promise<string> {
    const response = await fetch(`${this.baseUrl}/v1/markets?limit=1`, {
      headers: { "x-api-key": this.#key },
    });
    type Markets = {
      readonly data?: readonly { readonly tokens: readonly { token_id: string }[] }[];
    };
    const markets = (await response.json()) as Markets;
    const token = markets.data?.[0]?.tokens[0];
    if (token === undefined) throw new Error(`the service knows no market (${response.status})`);
    return token.token_id;
  }

  async close(): Promise<void> {
    await this.#child.close();
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
