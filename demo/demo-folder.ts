import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateKey } from "../src/access/key-format.ts";
import type { SimulationState } from "./simulation.ts";

/** How the service was reached the last time; users have pasted it. */
type Access = { readonly key: string; readonly port: number };

const firstPort = 8080;

/**
 * What the demo keeps between two starts. The chain and the service's facts belong together: only a
 * demo that stopped in order leaves both at the same block, with a file of its market as the sign
 * of it. Without that file both start again.
 */
export class DemoFolder {
  readonly access: Access;
  /** `null` when there is nothing to go on from. */
  readonly market: SimulationState | null;
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
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

  /** Claims the first of these folders that no running demo has claimed, making it if needed. */
  static open(paths: readonly string[]): DemoFolder {
    const path = paths.find(claim);
    if (path === undefined) {
      throw new Error(
        `a demo runs already in ${paths.join(", ")}; set ODDWIRE_DATA_DIR to another`,
      );
    }
    return new DemoFolder(path);
  }

  get stateFile(): string {
    return this.#file("anvil.json");
  }

  get dataDir(): string {
    return this.#file("data");
  }

  get logFile(): string {
    return this.#file("service.log");
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
    return join(this.path, name);
  }

  #readJson(name: string): unknown {
    const text = readOrNull(this.#file(name));
    return text === null ? null : JSON.parse(text);
  }
}

/** Whether the folder is now ours. Throws when it has what is not of a demo: a start may delete that. */
function claim(path: string): boolean {
  mkdirSync(path, { recursive: true });
  const pidFile = join(path, "demo.pid");
  const files = readdirSync(path);
  if (files.length > 0 && !files.includes("access.json") && !files.includes("demo.pid")) {
    throw new Error(`${path} is not a folder of the demo; set ODDWIRE_DATA_DIR to another`);
  }
  const owner = readOrNull(pidFile);
  if (owner !== null && isRunning(Number(owner))) return false;
  rmSync(pidFile, { force: true });
  try {
    writeFileSync(pidFile, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    // Another demo was faster.
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
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
