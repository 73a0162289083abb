import type { Address, Hash, Seq, TokenId } from "../../base/ids.ts";
import type { PositionCause } from "../../contracts/events.ts";

/** Why shares of a wallet changed. */
export type LedgerKind =
  | "trade"
  | "fee_refund"
  | PositionCause
  | "migrate"
  | "transfer_in"
  | "transfer_out";

/** The role of the wallet in a trade. An `operator` filled the order of a maker directly. */
export type LedgerRole = "maker" | "taker" | "operator";

/**
 * What makes a position of ConditionalTokens unlike one of a market: another collateral, a parent position, a subset of
 * the outcomes, or all of more than two outcomes. Its cost is unknown.
 */
export type PositionNature = "foreign" | "nested" | "subset" | "full";

/**
 * One change of one token of one wallet, with its cause. A cause that changes several tokens has a row for each, in
 * the order of outcomes; its collateral is on the first. Amounts are micros from the wallet's view: negative is out.
 * Shares are modulo 2^256, from -2^255: see `getShares`.
 */
export type LedgerRow = {
  readonly seq: Seq;
  /** The number of the cause among those of the wallet at `seq`, times 65,536, plus the number of the token in it. */
  readonly sub: number;
  readonly timestamp: number;
  readonly txHash: Hash;
  readonly wallet: Address;
  readonly tokenId: TokenId;
  readonly kind: LedgerKind;
  /** `null` unless `kind` is `trade`. */
  readonly role: LedgerRole | null;
  readonly nature: PositionNature | null;
  readonly shares: bigint;
  /** Without the fee. */
  readonly cash: bigint;
  /** In collateral, net of refunds. */
  readonly fee: bigint;
  /** The fee in shares of a BUY of generation 1, already left out of `shares`; refunds are rows. */
  readonly feeShares: bigint;
  /** The other side, or the receiver of the collateral if that is another account; `null` for none. */
  readonly counterparty: Address | null;
  /** The contract that acted for the wallet; `null` for transfers. */
  readonly via: Address | null;
};

/**
 * The net change of a balance in one transaction, of any holder: wallets, and contracts that have no ledger. Those of
 * the zero address are supply: tokens minted are negative, tokens burnt are positive, never netted.
 */
export type BalanceChange = {
  readonly seq: Seq;
  readonly timestamp: number;
  readonly tokenId: TokenId;
  readonly wallet: Address;
  readonly shares: bigint;
};

/** Shares from here on are stored with the other sign. Only transfers have them. */
export const signedSharesMax = 2n ** 255n;

/** Returns the shares of a row. */
export function getShares({ kind, shares }: Pick<LedgerRow, "kind" | "shares">): bigint {
  if (kind === "transfer_in" && shares < 0n) return BigInt.asUintN(256, shares);
  if (kind === "transfer_out" && shares > 0n) return -BigInt.asUintN(256, -shares);
  return shares;
}

/** The number of the cause of a row among those of its wallet at its position. */
export function getCause({ sub }: Pick<LedgerRow, "sub">): number {
  return Math.floor(sub / subsPerCause);
}

/** The number of tokens that a cause can have: more than fit into the logs of a block. */
export const subsPerCause = 65_536;

/** The sender of minted tokens and the receiver of burnt ones. */
export const zeroAddress = `0x${"0".repeat(40)}` as Address;
