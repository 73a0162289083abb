/** Builds artificial chains: linked, with deterministic hashes and correct blooms. */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { type RpcLog, type ScriptedBlock, toQuantity } from "./scripted-block.ts";

export type LogSpec = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data?: string;
  /** Logs of one block with the same name share a transaction. By default all logs do. */
  readonly transaction?: string;
};
export type BlockSpec = { readonly logs?: readonly LogSpec[]; readonly timestamp?: number };

/**
 * Builds one block per spec, linked to `after` or starting a chain at `firstNumber` (default 0). Equal arguments give
 * equal hashes; another `salt` gives a competing chain of the same shape. A named transaction has the same hash on
 * every fork, like a transaction that is mined again.
 */
export function buildBlocks(
  specs: readonly BlockSpec[],
  options: { after?: ScriptedBlock | undefined; firstNumber?: number; salt?: string } = {},
): ScriptedBlock[] {
  const blocks: ScriptedBlock[] = [];
  let parent = options.after ?? genesisParent(options.firstNumber ?? 0);
  for (const spec of specs) {
    const block = buildBlock(spec, { parent, salt: options.salt ?? "" });
    blocks.push(block);
    parent = block;
  }
  return blocks;
}

const zeroHash = `0x${"0".repeat(64)}`;
const secondsPerBlock = 2;

type Parent = Pick<ScriptedBlock, "number" | "hash" | "timestamp">;

function genesisParent(firstNumber: number): Parent {
  return { number: firstNumber - 1, hash: zeroHash, timestamp: 1_700_000_000 - secondsPerBlock };
}

function buildBlock(spec: BlockSpec, from: { parent: Parent; salt: string }): ScriptedBlock {
  const { parent, salt } = from;
  const number = parent.number + 1;
  const timestamp = spec.timestamp ?? parent.timestamp + secondsPerBlock;
  const hash = hashText(JSON.stringify([salt, parent.hash, number, timestamp, spec.logs ?? []]));
  const { logs, transactions } = placeLogs(spec.logs ?? [], { number, hash, salt });
  const header = {
    number: toQuantity(number),
    hash,
    parentHash: parent.hash,
    timestamp: toQuantity(timestamp),
    logsBloom: getBloom(logs),
    transactions,
  };
  return { number, hash, parentHash: parent.hash, timestamp, header, logs };
}

function placeLogs(
  specs: readonly LogSpec[],
  at: { number: number; hash: string; salt: string },
): { logs: RpcLog[]; transactions: string[] } {
  const transactions: string[] = [];
  const logs = specs.map((spec, logIndex) => {
    const transactionHash = hashText(spec.transaction ?? `${at.salt}:${at.number}`);
    if (!transactions.includes(transactionHash)) transactions.push(transactionHash);
    return {
      address: spec.address.toLowerCase(),
      topics: spec.topics,
      data: spec.data ?? "0x",
      blockHash: at.hash,
      blockNumber: toQuantity(at.number),
      transactionHash,
      transactionIndex: toQuantity(transactions.indexOf(transactionHash)),
      logIndex: toQuantity(logIndex),
      removed: false,
    };
  });
  return { logs, transactions };
}

function hashText(text: string): string {
  return `0x${Buffer.from(keccak_256(Buffer.from(text))).toString("hex")}`;
}

/**
 * Returns the 2048-bit bloom of a block: three bits for every address and topic of its logs, taken from the first three
 * big-endian 16-bit words of the keccak hash, modulo 2048.
 */
export function getBloom(logs: readonly Pick<RpcLog, "address" | "topics">[]): string {
  const bloom = Buffer.alloc(256);
  const values = new Set(logs.flatMap((log) => [log.address, ...log.topics]));
  for (const value of values) {
    for (const bit of bloomBits(value)) {
      const byte = 255 - (bit >> 3);
      bloom.writeUInt8(bloom.readUInt8(byte) | (1 << (bit & 7)), byte);
    }
  }
  return `0x${bloom.toString("hex")}`;
}

/** A cache: generated chains repeat few values, and hashing is their main cost. */
const knownBits = new Map<string, readonly number[]>();
const knownBitsMax = 10_000;

function bloomBits(value: string): readonly number[] {
  const cached = knownBits.get(value);
  if (cached !== undefined) return cached;
  const delta = Buffer.from(keccak_256(Buffer.from(value.slice(2), "hex")));
  const bits = [0, 2, 4].map((offset) => delta.readUInt16BE(offset) % 2048);
  if (knownBits.size >= knownBitsMax) knownBits.clear();
  knownBits.set(value, bits);
  return bits;
}
