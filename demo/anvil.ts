import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Child } from "./child.ts";

export const demoChainId = 31_337;

const keptBlocksMax = 4000;

/** A chain in a process: it makes a block when sent to, and lets anybody send from any account. */
export class Anvil {
  readonly url: string;
  readonly #child: Child;

  private constructor(child: Child, url: string) {
    this.#child = child;
    this.url = url;
  }

  /**
   * `stateFile` is loaded if it exists, and written on `close`; without it nothing is kept.
   * `finalityLag` is by how many blocks, an even number, finality lags the head.
   */
  static async open(options: {
    stateFile?: string;
    genesisSeconds: number;
    finalityLag?: number;
    env: NodeJS.ProcessEnv;
    stop: AbortSignal;
  }): Promise<Anvil> {
    const { stateFile, genesisSeconds, finalityLag = 2, env, stop } = options;
    const state = stateFile === undefined ? [] : [`--state=${stateFile}`, rareDumps];
    const epoch = `--slots-in-an-epoch=${finalityLag / 2}`;
    const args = [...fixedArgs, epoch, `--timestamp=${genesisSeconds}`, ...state];
    const child = new Child("anvil", { command: findAnvil(), args, env, stderr: "inherit" });
    try {
      const address = await child.waitForOutput(/^Listening on (\S+)\n/m, stop);
      return new Anvil(child, `http://${address}`);
    } catch (error) {
      await child.close();
      throw error;
    }
  }

  /** Throws when it ends without being asked to. */
  failed(): Promise<never> {
    return this.#child.failed();
  }

  /** True when its state was written. */
  close(): Promise<boolean> {
    return this.#child.close();
  }
}

/** Anvil would write its whole state every minute, and stand still meanwhile. */
const rareDumps = "--state-interval=86400";

const fixedArgs: readonly string[] = [
  "--port=0",
  `--chain-id=${demoChainId}`,
  "--accounts=1",
  "--no-mining",
  "--order=fifo",
  "--auto-impersonate",
  // Gas is free and plentiful: accounts need no coins, and no block is ever full.
  "--gas-price=0",
  "--block-base-fee-per-gas=0",
  "--gas-limit=100000000000",
  // Nothing asks for old states; an hour of transactions is what a stopped indexer may need, and
  // each takes tens of kilobytes of memory and of the state file.
  "--prune-history=16",
  `--transaction-block-keeper=${keptBlocksMax}`,
];

/** The binary lies in a package of its own for each platform, next to the one that names them. */
function findAnvil(): string {
  const platform = process.platform;
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const anvilPackage = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json");
  const platformPackage = createRequire(anvilPackage).resolve(
    `@foundry-rs/anvil-${platform}-${arch}/package.json`,
  );
  return join(dirname(platformPackage), "bin", platform === "win32" ? "anvil.exe" : "anvil");
}
