/** Balances of ERC-1155 tokens from the state of their contract. */
import { type Address, type TokenId, toTokenId } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import { getResult, type RpcCall } from "../rpc/json-rpc.ts";

/** A holder of a token. */
export type BalancePair = { readonly tokenId: TokenId; readonly wallet: Address };

/** The first bytes of the hash of `balanceOfBatch(address[],uint256[])`. */
const balanceOfBatch = "0x4e1273f4";

/**
 * Reads balances at a final block by one `balanceOfBatch`, from the first endpoint that answers. Throws an
 * `EndpointError` when none does: an old block needs an archive node.
 */
export async function fetchBalances(
  pool: EndpointPool,
  pairs: readonly BalancePair[],
  { contract, block }: { readonly contract: Address; readonly block: number },
): Promise<readonly bigint[]> {
  const call: RpcCall = {
    method: "eth_call",
    params: [{ to: contract, data: encodePairs(pairs) }, `0x${block.toString(16)}`],
  };
  let failure = new EndpointError("unavailable", `no endpoint has the state of block ${block}`);
  for (const endpoint of pool.finalAt(block)) {
    try {
      const { replies } = await endpoint.requestWithRetries([call]);
      return parseBalances(getResult(replies[0]), pairs.length);
    } catch (thrown) {
      if (!(thrown instanceof EndpointError)) throw thrown;
      failure = thrown;
    }
  }
  throw failure;
}

function encodePairs(pairs: readonly BalancePair[]): string {
  const length = toWord(pairs.length);
  const wallets = pairs.map(({ wallet }) => wallet.slice(2).padStart(64, "0"));
  const tokens = pairs.map(({ tokenId }) => tokenId.slice(2));
  const offsets = [toWord(64), toWord(64 + 32 * (1 + pairs.length))];
  return `${balanceOfBatch}${[...offsets, length, ...wallets, length, ...tokens].join("")}`;
}

function toWord(value: number): string {
  return toTokenId(BigInt(value)).slice(2);
}

function parseBalances(result: unknown, count: number): readonly bigint[] {
  const isList = typeof result === "string" && /^0x[0-9a-fA-F]*$/.test(result);
  const words = isList ? (result.slice(2).match(/.{64}/g) ?? []) : [];
  const [, length, ...balances] = words.map((word) => BigInt(`0x${word}`));
  if (length !== BigInt(count) || balances.length !== count)
    throw new EndpointError("malformed", "balanceOfBatch did not return one balance for each pair");
  return balances;
}
