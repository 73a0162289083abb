/** A transaction of the model: its logs as contracts emit them, and what they mean in the books. */
import type { Address, ConditionId, TokenId } from "../../../src/base/ids.ts";
import type { TokenAmount } from "../../../src/contracts/events.ts";
import type { CollateralPool } from "../../../src/market/ledger/collateral.ts";
import { zeroAddress } from "../../../src/market/ledger/ledger-row.ts";
import { isPassThrough } from "../../../src/market/ledger/token-flow.ts";
import { contracts } from "../simulation.ts";
import { encodeLog, type LogContent, type Word } from "./model-log.ts";
import { bookRow, emptyPosition, type ModelPosition, settle } from "./model-position.ts";
import { type ModelRow, type NewRow, toModelRow } from "./model-row.ts";

/** Everything that the model knows after a block. Plain data, so that a fork can begin with a copy. */
export type ModelState = {
  readonly balances: Map<TokenId, Map<Address, bigint>>;
  readonly supply: Map<TokenId, { minted: bigint; burnt: bigint }>;
  readonly pools: Record<CollateralPool, bigint>;
  /** By wallet and token. */
  readonly positions: Map<string, ModelPosition>;
  /** By wallet, what it received less what it paid, with fees. */
  readonly cash: Map<Address, bigint>;
  readonly payouts: Map<TokenId, { readonly numerator: bigint; readonly sum: bigint }>;
  readonly resolved: Set<ConditionId>;
  /** What was logged once: prepared conditions and events. */
  readonly prepared: Set<string>;
  /** By event, how many of its questions were prepared. */
  readonly questions: Map<string, number>;
  orders: number;
};

export function newState(): ModelState {
  return {
    balances: new Map(),
    supply: new Map(),
    pools: { standard: 0n, neg_risk: 0n, protocol_v2: 0n },
    positions: new Map(),
    cash: new Map(),
    payouts: new Map(),
    resolved: new Set(),
    prepared: new Set(),
    questions: new Map(),
    orders: 0,
  };
}

/** Who moves tokens of a contract from whom to whom. */
export type Parties = {
  readonly at: Address;
  readonly operator: Address;
  readonly from: Address;
  readonly to: Address;
};

export class ModelTransaction {
  readonly state: ModelState;
  readonly logs: LogContent[] = [];
  readonly rows: ModelRow[] = [];

  constructor(state: ModelState) {
    this.state = state;
  }

  emit(
    address: Address,
    signature: string,
    content: { topics?: readonly Word[]; data?: readonly (Word | readonly Word[])[] },
  ): void {
    this.logs.push(
      encodeLog(address, signature, { topics: content.topics ?? [], data: content.data ?? [] }),
    );
  }

  balance(account: Address, tokenId: TokenId): bigint {
    return this.state.balances.get(tokenId)?.get(account) ?? 0n;
  }

  move(parties: Parties, token: TokenAmount): void {
    const { at, operator, from, to } = parties;
    this.emit(at, "TransferSingle(address,address,address,uint256,uint256)", {
      topics: [operator, from, to],
      data: [token.tokenId, token.amount],
    });
    this.#change(parties, token);
  }

  moveBatch(parties: Parties, tokens: readonly TokenAmount[]): void {
    const { at, operator, from, to } = parties;
    this.emit(at, "TransferBatch(address,address,address,uint256[],uint256[])", {
      topics: [operator, from, to],
      data: [tokens.map(({ tokenId }) => tokenId), tokens.map(({ amount }) => amount)],
    });
    for (const token of tokens) this.#change(parties, token);
  }

  /** Books a cause, unless it moved nothing. `paid` is the collateral of a conversion if the log does not have it. */
  book(row: NewRow, paid: bigint = row.cash ?? 0n): void {
    const isNothing = row.tokens.every(({ amount }) => amount === 0n) && paid === 0n;
    if (isNothing || isPassThrough(contracts, row.wallet)) return;
    const tokens = row.tokens.filter(({ amount }) => amount !== 0n || paid !== 0n);
    const booked = toModelRow({ ...row, tokens });
    this.rows.push(booked);
    const get = (tokenId: TokenId) => this.position(row.wallet, tokenId);
    bookRow(booked, { get, payouts: this.state.payouts, paid });
    // Of positions that are not of a market, no cost is known.
    if (booked.nature !== null) return;
    const cash = (this.state.cash.get(row.wallet) ?? 0n) + paid - booked.fee;
    this.state.cash.set(row.wallet, cash);
  }

  /** Books both sides of a transfer. Contracts that pass tokens on have no rows. */
  bookTransfer(from: Address, to: Address, tokens: readonly TokenAmount[]): void {
    if (from === to) return;
    const moved = sum(tokens);
    this.book({ wallet: from, kind: "transfer_out", counterparty: to, tokens: negate(moved) });
    this.book({ wallet: to, kind: "transfer_in", counterparty: from, tokens: moved });
  }

  pay(pool: CollateralPool, amount: bigint): void {
    this.state.pools[pool] += amount;
  }

  /** Settles all positions in some tokens. */
  resolve(tokens: readonly TokenId[], numerators: readonly bigint[]): void {
    const total = numerators.reduce((all, one) => all + one, 0n);
    for (const [index, tokenId] of tokens.entries()) {
      const numerator = numerators[index] ?? 0n;
      this.state.payouts.set(tokenId, { numerator, sum: total });
      for (const [key, position] of this.state.positions) {
        if (key.endsWith(tokenId)) settle(position, numerator, total);
      }
    }
  }

  position(wallet: Address, tokenId: TokenId): ModelPosition {
    const key = `${wallet} ${tokenId}`;
    const position = this.state.positions.get(key) ?? emptyPosition();
    this.state.positions.set(key, position);
    return position;
  }

  #change({ from, to }: Parties, { tokenId, amount }: TokenAmount): void {
    const holders = this.state.balances.get(tokenId) ?? new Map<Address, bigint>();
    this.state.balances.set(tokenId, holders);
    const supply = this.state.supply.get(tokenId) ?? { minted: 0n, burnt: 0n };
    this.state.supply.set(tokenId, supply);
    if (from === zeroAddress) supply.minted += amount;
    else {
      const rest = (holders.get(from) ?? 0n) - amount;
      if (rest < 0n) throw new RangeError(`${from} has not enough of ${tokenId}`);
      holders.set(from, rest);
    }
    if (to === zeroAddress) supply.burnt += amount;
    else holders.set(to, (holders.get(to) ?? 0n) + amount);
  }
}

export function negate(tokens: readonly TokenAmount[]): TokenAmount[] {
  return tokens.map(({ tokenId, amount }) => ({ tokenId, amount: -amount }));
}

/** The same amount of each token. */
export function each(tokens: readonly TokenId[], amount: bigint): TokenAmount[] {
  return tokens.map((tokenId) => ({ tokenId, amount }));
}

function sum(tokens: readonly TokenAmount[]): TokenAmount[] {
  const sums = new Map<TokenId, bigint>();
  for (const { tokenId, amount } of tokens) sums.set(tokenId, (sums.get(tokenId) ?? 0n) + amount);
  return [...sums].map(([tokenId, amount]) => ({ tokenId, amount }));
}
