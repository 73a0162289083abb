/** A log exactly as `eth_getLogs` returns it. */
export type RpcLog = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly transactionHash: string;
  readonly transactionIndex: string;
  readonly logIndex: string;
  readonly removed: boolean;
};

/** A block for a scripted node: recorded, or made by `buildBlocks`. */
export type ScriptedBlock = {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  /** Unix seconds. */
  readonly timestamp: number;
  /** The result of `eth_getBlockByNumber`, transactions as hashes. */
  readonly header: Readonly<Record<string, unknown>>;
  readonly logs: readonly RpcLog[];
};

/** Formats a JSON-RPC quantity: `255` -> `"0xff"`. */
export function toQuantity(value: number): string {
  return `0x${value.toString(16)}`;
}
