import type { Loss } from "./faults.ts";
import type { RpcLog, ScriptedBlock } from "./scripted-block.ts";

/** As docs/completeness.md has it. */
const sparseBloomBitsMax = 256;

/**
 * Which logs were left out of an answer in a way that nothing else the endpoint says contradicts:
 * the only ones that a chain source may miss. Worked out from docs/completeness.md alone, for blocks
 * whose headers are at hand.
 */
export class Losses {
  readonly #unseen = new Set<string>();

  add({ lost, block, remaining }: Loss): void {
    const others = remaining.filter((log) => log.blockHash === block.hash);
    const hasContract = others.some(({ address }) => address === lost.address);
    const hasEvent = others.some(({ topics }) => topics[0] === lost.topics[0]);
    const isFull = others.length > 0 && bitsOf(block) > sparseBloomBitsMax;
    if ((hasContract && hasEvent) || isFull) this.#unseen.add(keyOf(lost));
  }

  /** Whether nothing could show that the log is missing. */
  has(log: { readonly blockHash: string; readonly logIndex: number }): boolean {
    return this.#unseen.has(`${log.blockHash} ${log.logIndex}`);
  }
}

function keyOf({ blockHash, logIndex }: RpcLog): string {
  return `${blockHash} ${Number(logIndex)}`;
}

function bitsOf({ header }: ScriptedBlock): number {
  const bits = BigInt(String(header["logsBloom"])).toString(2);
  return bits.replaceAll("0", "").length;
}
