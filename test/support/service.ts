/** The real service as a child process, with a small client for tests. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { generateKey } from "../../src/access/key-format.ts";
import { cli } from "./cli.ts";
import { systemSettings } from "./system-settings.ts";
import { waitFor, waitMsMax } from "./wait-for.ts";

export type ServiceOptions = {
  readonly rpcUrls: readonly string[];
  readonly dataDir: string;
  /** Additional `ODDWIRE_*` settings. The caller's environment is not inherited. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The role; `serve` by default. */
  readonly role?: "serve" | "index" | "api";
  /** Receives a function that kills the process during its start. `open` then rejects. */
  readonly onSpawn?: (kill9: () => void, child: ChildProcess) => void;
};

export type Meta = {
  readonly indexed_block: number | null;
  readonly finalized_block: number | null;
};

export type Page = {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly pagination: { readonly has_more: boolean; readonly next_cursor: string | null };
  readonly meta: Meta;
};

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** An admin key, generated for each test process. Every service that it starts accepts the key. */
export const adminKey = generateKey("admin");

const pagesMax = 1000;
const stderrCharsMax = 20_000;

/** The running services. They are killed when the test process exits early. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export class Service {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  #baseUrl = "";
  #stderr = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    running.add(child);
    this.#exited = once(child, "exit").then(([code]) => {
      running.delete(child);
      return code as number | null;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrCharsMax);
    });
  }

  /** Starts a role on a free port and waits for the line that says it listens. */
  static async open(options: ServiceOptions): Promise<Service> {
    const child = spawn(process.execPath, [cli, options.role ?? "serve"], {
      env: { ...systemSettings(), ...getSettings(options) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const service = new Service(child);
    options.onSpawn?.(() => child.kill("SIGKILL"), child);
    try {
      service.#baseUrl = await service.#readAddress();
    } catch (cause) {
      await service.kill9();
      throw new Error(`the service did not start\n${service.stderr}`, { cause });
    }
    return service;
  }

  get baseUrl(): string {
    return this.#baseUrl;
  }

  /** The end of its standard error. */
  get stderr(): string {
    return this.#stderr;
  }

  async request(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await this.#fetch(path, headers);
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Returns the body of a 200; fails for other statuses. */
  async get<Body>(path: string): Promise<Body> {
    const { status, body } = await this.request(path);
    assert.equal(status, 200, `GET ${path}: ${JSON.stringify(body)}`);
    return body as Body;
  }

  /** Returns the body of a 200 that is not JSON; fails for other statuses. */
  async getText(path: string): Promise<string> {
    const response = await this.#fetch(path, {});
    const text = await response.text();
    assert.equal(response.status, 200, `GET ${path}: ${text}`);
    return text;
  }

  /** Returns every row of a list, page by page; fails if a row occurs twice. */
  async getAllPages(path: string): Promise<Readonly<Record<string, unknown>>[]> {
    const rows: Readonly<Record<string, unknown>>[] = [];
    let cursor: string | null = null;
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const separator = path.includes("?") ? "&" : "?";
      const suffix = cursor === null ? "" : `${separator}cursor=${encodeURIComponent(cursor)}`;
      const page: Page = await this.get<Page>(path + suffix);
      rows.push(...page.data);
      cursor = page.pagination.next_cursor;
      assert.equal(page.pagination.has_more, cursor !== null, `has_more of ${path}`);
      if (cursor === null) break;
    }
    assert.equal(cursor, null, `${path} has more than ${pagesMax} pages`);
    assert.equal(new Set(rows.map((row) => row["id"])).size, rows.length, `${path} repeats a row`);
    return rows;
  }

  async waitReady(): Promise<void> {
    await this.#waitFor("readiness", async () => (await this.request("/v1/ready")).status === 200);
  }

  /** Waits until readiness is 503 because of one check. */
  async waitUnready(check: string): Promise<void> {
    await this.#waitFor(`a failing check of ${check}`, async () => {
      // An IP address has 100 requests a minute.
      await pause(1_000);
      const { status, body } = await this.request("/v1/ready");
      const { checks } = body as { checks: Record<string, { ok: boolean }> };
      return status === 503 && checks[check]?.ok === false;
    });
  }

  /** Waits until responses include every block up to `block`. */
  async waitIndexed(block: number): Promise<void> {
    await this.#waitFor(`block ${block}`, async () => {
      return ((await this.#meta())?.indexed_block ?? -1) >= block;
    });
  }

  /** Waits until every block up to `block` is indexed and final. */
  async waitFinalized(block: number): Promise<void> {
    await this.#waitFor(`final block ${block}`, async () => {
      const meta = await this.#meta();
      return Math.min(meta?.indexed_block ?? -1, meta?.finalized_block ?? -1) >= block;
    });
  }

  get pid(): number {
    assert(this.#child.pid !== undefined, "it was started");
    return this.#child.pid;
  }

  /** The exit code if it has already exited; otherwise `null`. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** The exit code once it has exited; `null` if it was killed. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }

  /** Kills it without notice, as a crash would. */
  async kill9(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Asks it to stop. Resolves with the exit code, or `null` if it had to be killed. */
  async stop(): Promise<number | null> {
    this.#child.kill("SIGTERM");
    const killer = setTimeout(() => this.#child.kill("SIGKILL"), waitMsMax);
    const code = await this.#exited;
    clearTimeout(killer);
    return code;
  }

  #fetch(path: string, headers: Record<string, string>): Promise<Response> {
    return fetch(this.#baseUrl + path, {
      headers: { "x-api-key": adminKey, ...headers },
      signal: AbortSignal.timeout(waitMsMax),
    });
  }

  /** The `meta` of a response; `null` if the service asks for a retry. */
  async #meta(): Promise<Meta | null> {
    const { status, headers, body } = await this.request("/v1/trades?limit=1");
    if (status === 503 && headers.has("retry-after")) return null;
    assert.equal(status, 200, JSON.stringify(body));
    return (body as Page).meta;
  }

  async #waitFor(what: string, isSo: () => Promise<boolean>): Promise<void> {
    await waitFor(what, async () => {
      const { exitCode, signalCode } = this.#child;
      assert(exitCode === null && signalCode === null, `it ended (${exitCode ?? signalCode})`);
      return (await isSo()) ? true : null;
    });
  }

  async #readAddress(): Promise<string> {
    assert(this.#child.stdout !== null, "standard output is piped");
    const lines = createInterface({ input: this.#child.stdout });
    const signal = AbortSignal.timeout(waitMsMax);
    const exited = this.#exited.then((code) => {
      throw new Error(`exit code ${code}`);
    });
    const [line] = (await Promise.race([once(lines, "line", { signal }), exited])) as [string];
    const { listening, version } = JSON.parse(line) as { listening?: string; version?: string };
    assert(listening !== undefined && version !== undefined, `unexpected first line: ${line}`);
    return listening;
  }
}

function getSettings(options: ServiceOptions): Record<string, string> {
  return {
    ODDWIRE_RPC_URLS: options.rpcUrls.join(","),
    ODDWIRE_CHAIN_ID: "137",
    ODDWIRE_START_BLOCK: "0",
    ODDWIRE_DATA_DIR: options.dataDir,
    ODDWIRE_PORT: "0",
    ODDWIRE_ADMIN_KEY: adminKey,
    ...options.settings,
  };
}
