/** The ledger of fills: what each wallet traded, and what else moved at the exchange. */
import type { Address, Seq, TokenId } from "../../base/ids.ts";
import type { TokenAmount } from "../../contracts/events.ts";
import { type Fill, getSettledCash } from "../fill.ts";
import type { Entry } from "./ledger-draft.ts";

/** A signed amount that went to or from a wallet through an exchange. */
export type Movement = TokenAmount & { readonly wallet: Address; readonly seq: Seq };

/**
 * Returns the entries of the fills of an exchange, and transfers for what its movements differ by: the fees in shares
 * of generation 1, and what it had before. `isShort`: the shares of a fill did not move.
 */
export function settleFills(
  exchange: Address,
  fills: readonly Fill[],
  movements: readonly Movement[],
): { readonly entries: readonly Entry[]; readonly isShort: boolean } {
  const trades = fills.flatMap(tradesOfFill);
  const pairs = new Map<string, Pair>();
  const getPair = (wallet: Address, tokenId: TokenId): Pair => {
    const key = wallet + tokenId;
    const pair = pairs.get(key) ?? { wallet, tokenId, traded: 0n, seq: null, moves: [] };
    pairs.set(key, pair);
    return pair;
  };
  for (const { wallet, tokens, seq } of trades) {
    for (const { tokenId, amount } of tokens) {
      const pair = getPair(wallet, tokenId);
      pair.traded += amount;
      pair.seq = seq;
    }
  }
  for (const movement of movements) getPair(movement.wallet, movement.tokenId).moves.push(movement);
  const unexplained = [...pairs.values()].flatMap(getUnexplained);
  return {
    entries: [...trades, ...getTransfers(unexplained, exchange)],
    isShort: unexplained.some(({ isShort }) => isShort),
  };
}

/** The trades and movements of a wallet and token. `seq` is that of the last trade. */
type Pair = {
  readonly wallet: Address;
  readonly tokenId: TokenId;
  traded: bigint;
  seq: Seq | null;
  readonly moves: Movement[];
};

type Unexplained = Movement & { readonly isShort: boolean };

function getUnexplained({ wallet, tokenId, traded, seq, moves }: Pair): Unexplained[] {
  if (seq === null) return moves.map((move) => ({ ...move, isShort: false }));
  const moved = moves.reduce((sum, { amount }) => sum + amount, 0n);
  const amount = moved - traded;
  if (amount === 0n) return [];
  return [{ wallet, tokenId, amount, seq: moves.at(-1)?.seq ?? seq, isShort: moves.length === 0 }];
}

function getTransfers(unexplained: readonly Unexplained[], exchange: Address): Entry[] {
  const transfers = new Map<string, Entry>();
  for (const { wallet, tokenId, amount, seq } of unexplained) {
    const kind = amount > 0n ? "transfer_in" : "transfer_out";
    const key = `${seq} ${kind} ${wallet}`;
    const entry = transfers.get(key) ?? { seq, wallet, kind, counterparty: exchange, tokens: [] };
    transfers.set(key, entry);
    entry.tokens.push({ tokenId, amount });
  }
  return [...transfers.values()];
}

/** Returns the trade of the owner of a fill's order, and for a direct fill that of the operator. */
function tradesOfFill(fill: Fill): Entry[] {
  const { seq, role, maker, taker, exchange, makerSide } = fill;
  const isTaker = role === "taker";
  const isBuy = makerSide === "BUY";
  const shares = isTaker ? fill.size : isBuy ? fill.takerAmount : fill.makerAmount;
  const value = getSettledCash(fill);
  const hasShareFee = exchange.generation === 1 && isBuy;
  const feeShares = hasShareFee ? fill.fee : 0n;
  const amount = isBuy ? shares - feeShares : -shares;
  const trade = { seq, kind: "trade", via: exchange.address } as const;
  const cash = isBuy ? -value : value;
  const ownerTrade: Entry = {
    ...trade,
    wallet: maker,
    role: isTaker ? "taker" : "maker",
    counterparty: isTaker ? null : taker,
    cash,
    fee: hasShareFee ? 0n : fill.fee - fill.feeRefund,
    feeShares,
    tokens: [{ tokenId: fill.makerTokenId, amount }],
  };
  if (role !== "direct") return [ownerTrade];
  // The operator keeps the fee: what it gives is net of it.
  const operator: Entry = {
    ...trade,
    wallet: taker,
    role: "operator",
    counterparty: maker,
    cash: isBuy ? value : fill.fee - value,
    tokens: [{ tokenId: fill.makerTokenId, amount: -amount }],
  };
  return [ownerTrade, operator];
}
