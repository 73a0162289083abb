import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateKey } from "../src/store/key-format.ts";
import type { SimulationState } from "./simulation.ts";

/** How the service was reached the last time; users have pasted it. */
type Access = { readonly key: string; readonly port: number };

const firstPort = 8080;

/**
 * What the demo keeps between two starts. The chain and the service's facts belong together: only a
 * demo that stopped in order leaves both at the same block, with a file of its market as the sign
 * of it. Without that file both start anew.
 */
export class DemoFolder {
  readonly access: Access;
  /** `null` when there is nothing to go on from. */
  readonly market: SimulationState | null;
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
    this.access = (this.#readJson("access.json") as Access | null) ?? {
      key: generateKey("admin"),
      port: firstPort,
    };
    this.market = this.#readJson("market.json") as SimulationState | null;
    if (this.market === null) {
      rmSync(this.stateFile, { force: true });
      rmSync(this.dataDir, { recursive: true, force: true });
    }
    this.saveAccess(this.access);
  }

  /** Claims the folder, making it if needed. Throws when another demo that runs has claimed it. */
  static open(path: string): DemoFolder {
    mkdirSync(path, { recursive: true });
    const owner = readOrNull(join(path, "demo.pid"));
    if (owner !== null && isRunning(Number(owner))) {
      throw new Error(`a demo runs already, as process ${owner}`);
    }
    writeFileSync(join(path, "demo.pid"), String(process.pid));
    return new DemoFolder(path);
  }

  get stateFile(): string {
    return this.#file("anvil.json");
  }

  get dataDir(): string {
    return this.#file("data");
  }

  /** A new log for the service: a file descriptor. */
  openLog(): number {
    return openSync(this.#file("service.log"), "w");
  }

  /** Writes the list of contracts and returns where it lies. */
  writeContracts(contracts: object): string {
    writeFileSync(this.#file("contracts.json"), `${JSON.stringify(contracts, null, 2)}\n`);
    return this.#file("contracts.json");
  }

  saveAccess(access: Access): void {
    writeFileSync(this.#file("access.json"), JSON.stringify(access), { mode: 0o600 });
  }

  /** From here on, until the market is saved again, a demo that is killed leaves nothing to go on. */
  forgetMarket(): void {
    rmSync(this.#file("market.json"), { force: true });
  }

  saveMarket(state: SimulationState): void {
    writeFileSync(this.#file("market.json"), JSON.stringify(state));
  }

  close(): void {
    rmSync(this.#file("demo.pid"), { force: true });
  }

  #file(name: string): string {
    return join(this.#path, name);
  }

  #readJson(name: string): unknown {
    const text = readOrNull(this.#file(name));
    return text === null ? null : JSON.parse(text);
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // There is no such process, or it is not ours, so no demo of ours either.
    return false;
  }
}
