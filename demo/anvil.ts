import { Child } from "./child.ts";
import { findAnvil } from "./find-anvil.ts";

export const demoChainId = 31_337;

const keptBlocksMax = 4000;

/** A chain in a process. It mines blocks only on request, and accepts transactions from any account. */
export class Anvil {
  readonly url: string;
  readonly #child: Child;

  private constructor(child: Child, url: string) {
    this.#child = child;
    this.url = url;
  }

  /**
   * Loads `stateFile` if it exists, and writes it on `close`; without it no state is kept. `finalityLag` is the number
   * of blocks by which finality lags the head, an even number.
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
    const command = await findAnvil(env, stop);
    const child = new Child("anvil", { command, args, env, stderr: "inherit" });
    try {
      const address = await child.waitForOutput(/^Listening on (\S+)\n/m, stop);
      return new Anvil(child, `http://${address}`);
    } catch (error) {
      await child.close();
      throw error;
    }
  }

  /** Rejects when the process ends. */
  failed(): Promise<never> {
    return this.#child.failed();
  }

  /** Stops the process. Resolves to true if its state was written. */
  close(): Promise<boolean> {
    return this.#child.close();
  }
}

/** By default anvil writes its whole state every minute, and stalls meanwhile. */
const rareDumps = "--state-interval=86400";

const fixedArgs: readonly string[] = [
  "--port=0",
  `--chain-id=${demoChainId}`,
  "--accounts=1",
  "--no-mining",
  "--order=fifo",
  "--auto-impersonate",
  // Gas is free and its limit is high: accounts need no coins, and no block is ever full.
  "--gas-price=0",
  "--block-base-fee-per-gas=0",
  "--gas-limit=100000000000",
  // Old states are never read. A stopped indexer can need an hour of transactions, each of which takes tens of
  // kilobytes of memory and of the state file.
  "--prune-history=16",
  `--transaction-block-keeper=${keptBlocksMax}`,
];
