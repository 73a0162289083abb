import { spawnSync } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { demoChainId } from "./anvil.ts";
import { Child } from "./child.ts";
import { pollReadiness, waitUntilReady } from "./wait-patiently.ts";

export type ServiceOptions = {
  /** `serve` by default, which is everything in one process. The others are parts of a cluster. */
  readonly role?: "serve" | "index" | "api";
  readonly rpcUrl: string;
  readonly contractsFile: string;
  readonly dataDir: string;
  readonly logFile: string;
  readonly key: string;
  /** The settings of its source of order books. */
  readonly venue: Readonly<Record<string, string>>;
  /** The port of the last start. Another one is used if it is taken or the environment sets one. */
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
  /** Further settings that the role requires. They replace those of the environment. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly stop: AbortSignal;
};

const shownLogLines = 5;
/** The settings that the demo decides itself. Other settings of the environment apply to its service. */
const ownSettings =
  /^ODDWIRE_(?:RPC|CHAIN|START|CONTRACTS|DATA_DIR|ADMIN_KEY|HMAC|CLICKHOUSE|REDIS|VENUE)/;
const cli = fileURLToPath(new URL("../src/cli.ts", import.meta.url));

/** Thrown for settings of the environment that the service refuses. */
export class SettingsError extends Error {
  override name = "SettingsError";
}

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

  /** Fails for invalid settings of the environment and for a requested port that is in use. */
  static async checkSettings(env: NodeJS.ProcessEnv): Promise<void> {
    const { status, stderr } = spawnSync(process.execPath, [cli, "config"], {
      env: settingsIn(env),
      encoding: "utf8",
    });
    if (status !== 0) throw new SettingsError(stderr.trimEnd());
    const port = Number(env["ODDWIRE_PORT"] ?? 0);
    if (port !== 0 && !(await isFree(port)))
      throw new Error(`ODDWIRE_PORT: port ${port} is in use`);
  }

  /** Starts the service and waits until it listens. */
  static async open(options: ServiceOptions): Promise<Service> {
    const { role = "serve", key, port, logFile, env, settings: own = {}, stop } = options;
    const isGiven = env["ODDWIRE_PORT"] !== undefined || own["ODDWIRE_PORT"] !== undefined;
    const isTaken = !isGiven && !(await isFree(port));
    if (isTaken) console.log(`port     ${port} is in use, so the service takes another`);
    const settings = {
      ODDWIRE_PORT: String(isTaken ? 0 : port),
      ...settingsIn(env),
      ODDWIRE_RPC_URLS: options.rpcUrl,
      ODDWIRE_CHAIN_ID: String(demoChainId),
      ODDWIRE_START_BLOCK: "0",
      ODDWIRE_CONTRACTS_FILE: options.contractsFile,
      ODDWIRE_DATA_DIR: options.dataDir,
      ODDWIRE_ADMIN_KEY: key,
      ...options.venue,
      ...own,
    };
    const child = new Child(`the service (log: ${logFile})`, {
      command: process.execPath,
      args: [cli, role],
      env: settings,
      stderr: openSync(logFile, "w"),
    });
    try {
      const baseUrl = await child.waitForOutput(/"listening": ?"([^"]+)"/, stop);
      return new Service(child, baseUrl, key);
    } catch (error) {
      await child.close();
      const lines = readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-shownLogLines);
      throw stop.aborted ? error : new Error([String(error), ...lines].join("\n"));
    }
  }

  /** The processes that answer requests. */
  get serving(): readonly [Service] {
    return [this];
  }

  /** Rejects when the process ends. */
  failed(): Promise<never> {
    return this.#child.failed();
  }

  get port(): number {
    return Number(new URL(this.baseUrl).port);
  }

  /** Waits until the service has caught up with the chain. */
  async waitReady(stop: AbortSignal): Promise<void> {
    await waitUntilReady("the service to catch up with the chain", stop, async (signal) =>
      pollReadiness(this.baseUrl, signal),
    );
  }

  /** Returns the first token of the open market with the highest volume in the last 24 hours. */
  async fetchBusiestToken(): Promise<string> {
    const response = await fetch(`${this.baseUrl}/v1/markets?status=open&limit=1`, {
      headers: { "x-api-key": this.#key },
    });
    type Markets = {
      readonly data?: readonly { readonly tokens: readonly { token_id: string }[] }[];
    };
    const markets = (await response.json()) as Markets;
    const token = markets.data?.[0]?.tokens[0];
    if (token === undefined) throw new Error(`the service has no open market (${response.status})`);
    return token.token_id;
  }

  async close(): Promise<void> {
    await this.#child.close();
  }
}

/** Returns the variables of the environment that apply to the service of a demo. */
function settingsIn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ownSettings.test(name)));
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
