/** Texts that clients send, by HTTP or on the stream: how they are read, and the error for invalid ones. */
import { parseMicros } from "../decimal.ts";
import {
  type Address,
  type ConditionId,
  type Hash,
  parseAddress,
  parseConditionId,
  parseHash,
  parseTokenId,
  type TokenId,
} from "../ids.ts";

/** One kind of them. */
export type ClientText<Value> = {
  /** `null` when it is none. */
  readonly parse: (text: string) => Value | null;
  /** What it must be, as it follows "must be". */
  readonly expected: string;
  /** For the documentation. */
  readonly pattern: string;
};

/** A token, as the decimal that clients know. */
export const tokenIdInput: ClientText<TokenId> = {
  parse: parseTokenId,
  expected: "a decimal token id below 2^256",
  pattern: "^[0-9]{1,78}$",
};

/** A condition, in either spelling of generation 3. */
export const conditionIdInput: ClientText<ConditionId> = {
  parse: parseConditionId,
  expected: "a condition id, 0x and 64 hex digits (62 for generation 3)",
  pattern: "^0[xX]([0-9a-fA-F]{64}|[0-9a-fA-F]{62})$",
};

/** A transaction, block or order. */
export const hashInput: ClientText<Hash> = {
  parse: parseHash,
  expected: "a hash, 0x and 64 hex digits",
  pattern: "^0[xX][0-9a-fA-F]{64}$",
};

/** An account or contract. */
export const addressInput: ClientText<Address> = {
  parse: parseAddress,
  expected: "an address, 0x and 40 hex digits",
  pattern: "^0[xX][0-9a-fA-F]{40}$",
};

/** The store compares in 38 digits, 6 of them behind the point. */
const amountPattern = "^[0-9]{1,32}(\\.[0-9]{1,6})?$";
const isAmount = new RegExp(amountPattern);

/** An amount of shares or cash in micros, never negative. */
export const amountInput: ClientText<bigint> = {
  parse: (text) => (isAmount.test(text) ? parseMicros(text) : null),
  expected: "a decimal with at most 6 fractional digits, such as 12.5",
  pattern: amountPattern,
};
