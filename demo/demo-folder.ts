import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateKey } from "../src/access/key-format.ts";
import type { SimulationState } from "./simulation.ts";

/** The key and the port of the last start. They are kept because users have pasted them. */
type Access = { readonly key: string; readonly port: number };

const firstPort = 8080;

/**
 * The files that the demo keeps between two starts. The chain and the facts of the service must be at the same block.
 * Only a demo that stopped in order leaves them so, and then writes `market.json`. Without that file both are deleted.
 */
export class DemoFolder {
  readonly access: Access;
  /** The market to resume; `null` if there is none. */
  readonly market: SimulationState | null;
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
    this.access = (this.#readJson("access.json") as Access | null) ?? {
      key: generateKey("admin"),
      port: firstPort,
    };
    const market = this.#readJson("market.json") as SimulationState | null;
    // Older demos did not save what traders hold.
    this.market = market?.holdings === undefined ? null : market;
    if (this.market === null) {
      rmSync(this.stateFile, { force: true });
      rmSync(this.dataDir, { recursive: true, force: true });
    }
    this.saveAccess(this.access);
  }

  /** Claims the first of these folders that no running demo has claimed, and creates it if needed. */
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

  /** Writes the list of contracts and returns its path. */
  writeContracts(contracts: object): string {
    writeFileSync(this.#file("contracts.json"), `${JSON.stringify(contracts, null, 2)}\n`);
    return this.#file("contracts.json");
  }

  saveAccess(access: Access): void {
    writeFileSync(this.#file("access.json"), JSON.stringify(access), { mode: 0o600 });
  }

  /** Deletes the saved market. A demo that is killed before the market is saved again leaves nothing to resume. */
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

/**
 * Claims a folder; returns whether that worked. Throws if it has other files than those of a demo: a start can delete
 * files.
 */
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
    // Another demo has claimed it in the meantime.
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
    // There is no such process, or it belongs to another user, so it is not a demo of this one.
    return false;
  }
}
