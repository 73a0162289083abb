/**
 * The identifiers of the chain, as branded strings so that two that look alike cannot be mixed up.
 * Inside the process all of them are lower-case `0x` hex of fixed length; `formatTokenId` makes
 * of a token id the decimal string clients see.
 */
declare const brand: unique symbol;
type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };

/** A 32-byte hash (transaction, block, order, question): `0x` and 64 lower-case hex digits. */
export type Hash = Branded<string, "Hash">;
/** A 20-byte account or contract address: `0x` and 40 lower-case hex digits. */
export type Address = Branded<string, "Address">;
/** A ConditionalTokens condition id, or a generation-3 one padded to 32 bytes: 64 hex digits. */
export type ConditionId = Branded<string, "ConditionId">;
/** An ERC-1155 outcome token id (uint256) as 64 hex digits. */
export type TokenId = Branded<string, "TokenId">;
/** Position on the chain: `blockNumber * 1_000_000 + logIndex`; a safe integer. */
export type Seq = Branded<number, "Seq">;

/** 32 bytes of zeros: no hash of anything. */
export const zeroHash = `0x${"0".repeat(64)}` as Hash;

const seqPerBlock = 1_000_000;
const hash32 = /^0[xX][0-9a-fA-F]{64}$/;
const address20 = /^0[xX][0-9a-fA-F]{40}$/;
const decimalUint256 = /^[0-9]{1,78}$/;

/** The position of a log; the same on every node and after every re-index. */
export function seqOf(blockNumber: number, logIndex: number): Seq {
  return (blockNumber * seqPerBlock + logIndex) as Seq;
}

/** The first position of a block: every log of it is at or above, every earlier log below. */
export function firstSeqOf(blockNumber: number): Seq {
  return seqOf(blockNumber, 0);
}

/** The last position of a block: everything in it is at or below, later logs above. */
export function lastSeqOf(blockNumber: number): Seq {
  return (firstSeqOf(blockNumber + 1) - 1) as Seq;
}

/** The block a position lies in. */
export function blockNumberOf(seq: Seq): number {
  return Math.floor(seq / seqPerBlock);
}

/** The index of the log within its block. */
export function logIndexOf(seq: Seq): number {
  return seq % seqPerBlock;
}

/** Parses a 32-byte hash, upper-case hex accepted; `null` when it is not one. */
export function parseHash(value: unknown): Hash | null {
  return typeof value === "string" && hash32.test(value) ? (value.toLowerCase() as Hash) : null;
}

/** Parses a 20-byte address, checksummed or not; `null` when it is not one. */
export function parseAddress(value: unknown): Address | null {
  const isAddress = typeof value === "string" && address20.test(value);
  return isAddress ? (value.toLowerCase() as Address) : null;
}

/**
 * Parses a condition id: 64 hex digits, or 62 for generation 3 (bytes31, as the venue prints
 * them), which is padded on the right; `null` when it is neither.
 */
export function parseConditionId(text: string): ConditionId | null {
  if (hash32.test(text)) return text.toLowerCase() as ConditionId;
  if (/^0[xX][0-9a-fA-F]{62}$/.test(text)) return `${text.toLowerCase()}00` as ConditionId;
  return null;
}

/** Parses a decimal token id below 2^256; `null` when it is not one. */
export function parseTokenId(text: string): TokenId | null {
  if (!decimalUint256.test(text)) return null;
  const value = BigInt(text);
  return value < 1n << 256n ? tokenIdOf(value) : null;
}

/** The token id of an integer below 2^256. */
export function tokenIdOf(value: bigint): TokenId {
  return `0x${value.toString(16).padStart(64, "0")}` as TokenId;
}

/** The decimal form clients see. */
export function formatTokenId(tokenId: TokenId): string {
  return BigInt(tokenId).toString();
}
