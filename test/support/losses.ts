import type { Loss } from "./faults.ts";
import type { RpcLog, ScriptedBlock } from "./scripted-block.ts";

/** The bound in docs/completeness.md. */
const sparseBloomBitsMax = 256;

/**
 * Logs that were omitted from a response without contradicting anything else in it: the only logs that a chain source
 * may miss. Derived only from docs/completeness.md, for blocks whose headers are known.
 */
export class Losses {
  readonly #unseen = new Set<string>();

  add({ lost, block, remaining }: Loss): void {
    const others = remaining.filter((log) => log.blockHash === block.hash);
    const hasContract = others.some(({ address }) => address === lost.address);
    const hasEvent = others.some(({ topics }) => topics[0] === lost.topics[0]);
    const isFull = others.length > 0 && getBits(block) > sparseBloomBitsMax;
    if ((hasContract && hasEvent) || isFull) this.#unseen.add(getKey(lost));
  }

  /** Whether the missing log is undetectable. */
  has(log: { readonly blockHash: string; readonly logIndex: number }): boolean {
    return this.#unseen.has(`${log.blockHash} ${log.logIndex}`);
  }
}

function getKey({ blockHash, logIndex }: RpcLog): string {
  return `${blockHash} ${Number(logIndex)}`;
}

function getBits({ header }: ScriptedBlock): number {
  const bits = BigInt(String(header["logsBloom"])).toString(2);
  return bits.replaceAll("0", "").length;
}
