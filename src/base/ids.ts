/**
 * The identifiers of the chain, as branded types, so that ids of different kinds cannot be confused.
 * Inside the process ids are lower-case `0x` hex of fixed length. `formatTokenId` converts a token id
 * to the decimal form that clients receive.
 */
declare const brand: unique symbol;
type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };

/** A 32-byte hash (transaction, block, order, question): `0x` and 64 lower-case hex digits. */
export type Hash = Branded<string, "Hash">;
/** A 20-byte account or contract address: `0x` and 40 lower-case hex digits. */
export type Address = Branded<string, "Address">;
/** A condition id of ConditionalTokens, or one of generation 3 padded to 32 bytes: 64 hex digits. */
export type ConditionId = Branded<string, "ConditionId">;
/** An ERC-1155 outcome token id (uint256) as 64 hex digits. */
export type TokenId = Branded<string, "TokenId">;
/** A position on the chain: `blockNumber * 1_000_000 + logIndex`, a safe integer. */
export type Seq = Branded<number, "Seq">;

/** 32 bytes of zeros, which stand for no hash. */
export const zeroHash = `0x${"0".repeat(64)}` as Hash;

const seqPerBlock = 1_000_000;
const hash32 = /^0[xX][0-9a-fA-F]{64}$/;
const address20 = /^0[xX][0-9a-fA-F]{40}$/;
const decimalUint256 = /^[0-9]{1,78}$/;

/** Returns the position of a log. It is the same on every node and after indexing again. */
export function toSeq(blockNumber: number, logIndex: number): Seq {
  return (blockNumber * seqPerBlock + logIndex) as Seq;
}

/** Returns the first position of a block. Its logs are at or above; earlier logs are below. */
export function toFirstSeq(blockNumber: number): Seq {
  return toSeq(blockNumber, 0);
}

/** Returns the last position of a block. Its logs are at or below; later logs are above. */
export function toLastSeq(blockNumber: number): Seq {
  return (toFirstSeq(blockNumber + 1) - 1) as Seq;
}

/** Returns the block number of a position. */
export function toBlockNumber(seq: Seq): number {
  return Math.floor(seq / seqPerBlock);
}

/** Returns the log index of a position, within its block. */
export function toLogIndex(seq: Seq): number {
  return seq % seqPerBlock;
}

/** Parses a 32-byte hash, also in upper case; `null` when the value is not one. */
export function parseHash(value: unknown): Hash | null {
  return typeof value === "string" && hash32.test(value) ? (value.toLowerCase() as Hash) : null;
}

/** Parses a 20-byte address, with a checksum or not; `null` when the value is not one. */
export function parseAddress(value: unknown): Address | null {
  const isAddress = typeof value === "string" && address20.test(value);
  return isAddress ? (value.toLowerCase() as Address) : null;
}

/**
 * Parses a condition id: 64 hex digits, or 62 for generation 3 (bytes31, as the venue prints
 * them), which are padded on the right. `null` for any other text.
 */
export function parseConditionId(text: string): ConditionId | null {
  if (hash32.test(text)) return text.toLowerCase() as ConditionId;
  if (/^0[xX][0-9a-fA-F]{62}$/.test(text)) return `${text.toLowerCase()}00` as ConditionId;
  return null;
}

/** Parses a decimal token id below 2^256; `null` when the text is not one. */
export function parseTokenId(text: string): TokenId | null {
  if (!decimalUint256.test(text)) return null;
  const value = BigInt(text);
  return value < 1n << 256n ? toTokenId(value) : null;
}

/** Returns the token id of an integer below 2^256. */
export function toTokenId(value: bigint): TokenId {
  return `0x${value.toString(16).padStart(64, "0")}` as TokenId;
}

/** Formats a token id in decimal, the form that clients receive. */
export function formatTokenId(tokenId: TokenId): string {
  return BigInt(tokenId).toString();
}
