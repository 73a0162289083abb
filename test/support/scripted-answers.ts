/** The responses of an honest node as JSON text, serialized once per block and joined per request. */
import { getBloom } from "./build-blocks.ts";
import { type RpcLog, type ScriptedBlock, toQuantity } from "./scripted-block.ts";
import type { ChainView } from "./scripted-chain.ts";

export type RpcRequest = {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
};

/** An error object of JSON-RPC. */
export class RpcError extends Error {
  override name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Returns the result for `request` as JSON text; throws `RpcError` as nodes do. */
export function answer(chain: ChainView, request: RpcRequest): string {
  switch (request.method) {
    case "eth_blockNumber":
      return JSON.stringify(toQuantity(chain.head));
    case "eth_getBlockByNumber":
      return headerOrNull(findBlock(chain, request.params[0]));
    case "eth_getBlockByHash":
      return headerOrNull(chain.blockWithHash(String(request.params[0])));
    case "eth_getLogs":
      return `[${findLogs(chain, request.params[0])
        .map((log) => log.json)
        .join(",")}]`;
    case "eth_getBlockReceipts": {
      const block = findBlock(chain, request.params[0]);
      return block === null ? "null" : JSON.stringify(toReceipts(block));
    }
    case "eth_getTransactionReceipt":
      return JSON.stringify(toReceipt(chain, request.params[0]));
    default:
      throw new RpcError(-32601, `the method ${request.method} does not exist/is not available`);
  }
}

type ServedLog = { readonly log: RpcLog; readonly json: string };

/** Returns the logs that an `eth_getLogs` filter selects, in chain order. */
export function findLogs(chain: ChainView, filterParam: unknown): ServedLog[] {
  const filter = (filterParam ?? {}) as Record<string, unknown>;
  const wants = compileFilter(filter);
  const found: ServedLog[] = [];
  for (const block of filteredBlocks(chain, filter)) {
    for (const served of serve(block).logs) if (wants(served.log)) found.push(served);
  }
  return found;
}

/** Returns the first and last block of an `eth_getLogs` by range; `null` for other requests. */
export function requestedRange(
  request: RpcRequest,
  chain: ChainView,
): { from: number; to: number } | null {
  const filter = request.params[0] as Record<string, unknown> | undefined;
  if (request.method !== "eth_getLogs" || filter === undefined || "blockHash" in filter) {
    return null;
  }
  const from = toBlockNumber(chain, filter["fromBlock"] ?? "latest");
  const to = toBlockNumber(chain, filter["toBlock"] ?? "latest");
  return { from, to };
}

const served = new WeakMap<ScriptedBlock, { header: string; logs: readonly ServedLog[] }>();

function serve(block: ScriptedBlock): { header: string; logs: readonly ServedLog[] } {
  let entry = served.get(block);
  if (entry === undefined) {
    const logs = block.logs.map((log) => ({ log, json: JSON.stringify(log) }));
    entry = { header: JSON.stringify(block.header), logs };
    served.set(block, entry);
  }
  return entry;
}

/** The JSON text of a block's header. */
export function toHeader(block: ScriptedBlock): string {
  return serve(block).header;
}

function headerOrNull(block: ScriptedBlock | null): string {
  return block === null ? "null" : toHeader(block);
}

function findBlock(chain: ChainView, tag: unknown): ScriptedBlock | null {
  if (typeof tag === "string" && /^0x[0-9a-f]{64}$/i.test(tag)) return chain.blockWithHash(tag);
  return chain.blockAt(toBlockNumber(chain, tag));
}

function toBlockNumber(chain: ChainView, tag: unknown): number {
  switch (tag) {
    case "latest":
      return chain.head;
    case "earliest":
      return chain.firstNumber;
    case "finalized":
    case "safe":
      if (chain.finalized === null) throw new RpcError(-32000, `${tag} block not found`);
      return chain.finalized;
    default:
      if (typeof tag === "string" && /^0x(0|[1-9a-f][0-9a-f]*)$/i.test(tag)) return Number(tag);
      throw new RpcError(-32602, `invalid argument: ${JSON.stringify(tag)} is not a block`);
  }
}

function filteredBlocks(chain: ChainView, filter: Record<string, unknown>): ScriptedBlock[] {
  if ("blockHash" in filter) {
    const block = chain.blockWithHash(String(filter["blockHash"]));
    if (block === null) throw new RpcError(-32000, "unknown block");
    return [block];
  }
  const from = toBlockNumber(chain, filter["fromBlock"] ?? "latest");
  const to = toBlockNumber(chain, filter["toBlock"] ?? "latest");
  if (from > to) throw new RpcError(-32602, "invalid block range params");
  if (to > chain.head && !chain.isLenient) {
    throw new RpcError(-32602, "block range extends beyond current head block");
  }
  const blocks: ScriptedBlock[] = [];
  for (let number = from; number <= to; number += 1) {
    const block = chain.blockAt(number);
    if (block !== null) blocks.push(block);
  }
  return blocks;
}

function compileFilter(filter: Record<string, unknown>): (log: RpcLog) => boolean {
  const addresses = parseAllowed(filter["address"]);
  const topics = ((filter["topics"] ?? []) as unknown[]).map(parseAllowed);
  return (log) =>
    (addresses === null || addresses.has(log.address)) &&
    log.topics.length >= topics.length &&
    topics.every((allowed, index) => allowed === null || allowed.has(log.topics[index] ?? ""));
}

/** Parses a condition; `null`, a missing value and the empty list match anything. */
function parseAllowed(allowed: unknown): ReadonlySet<string> | null {
  if (allowed === null || allowed === undefined) return null;
  const values = (Array.isArray(allowed) ? allowed : [allowed]).map((value) =>
    String(value).toLowerCase(),
  );
  return values.length === 0 ? null : new Set(values);
}

function toReceipt(chain: ChainView, hash: unknown): unknown {
  for (let number = chain.head; number >= chain.firstNumber; number -= 1) {
    const block = chain.blockAt(number);
    const hashes = (block?.header["transactions"] ?? []) as unknown[];
    if (block !== null && hashes.includes(hash)) return toReceipts(block)[hashes.indexOf(hash)];
  }
  return null;
}

/** Receipts of all transactions in the header, all successful, with the logs of the block. One of several is a state sync. */
function toReceipts(block: ScriptedBlock): unknown[] {
  const transactions = (block.header["transactions"] ?? []) as string[];
  return transactions.map((transactionHash, index) => {
    const logs = block.logs.filter((log) => log.transactionHash === transactionHash);
    return {
      transactionHash,
      transactionIndex: toQuantity(index),
      blockHash: block.hash,
      blockNumber: toQuantity(block.number),
      type: index > 0 && index === transactions.length - 1 ? "0x7f" : "0x2",
      status: "0x1",
      logsBloom: getBloom(logs),
      logs,
    };
  });
}
