/** The ledger of one transaction while it is derived: its causes, and the net of its transfers to check them by. */
import type { Address, Seq, TokenId } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { TokenAmount } from "../../contracts/events.ts";
import { type CollateralPool, getCollateralId, getPoolAccount } from "./collateral.ts";
import { type BalanceChange, type LedgerRow, subsPerCause, zeroAddress } from "./ledger-row.ts";
import { negate, type Part, sumTokens } from "./token-flow.ts";

/** One cause: the rows of one wallet, before they have a location among its other causes. */
export type Entry = Partial<
  Pick<LedgerRow, "role" | "nature" | "cash" | "fee" | "feeShares" | "counterparty" | "via">
> & {
  readonly seq: Seq;
  readonly wallet: Address;
  readonly kind: LedgerRow["kind"];
  /** Signed from the wallet's view. */
  readonly tokens: TokenAmount[];
};

/** The ledger of one transaction. `difference` is a position at which the rows did not explain the transfers. */
export type TransactionLedger = {
  readonly rows: readonly LedgerRow[];
  readonly balances: readonly BalanceChange[];
  readonly difference: Seq | null;
};

type Transfer = { readonly seq: Seq; readonly from: Address; readonly to: Address };

type Net = { readonly wallet: Address; readonly tokenId: TokenId; shares: bigint; seq: Seq };

export class LedgerDraft {
  readonly #isWallet: (account: Address) => boolean;
  readonly #entries: Entry[] = [];
  readonly #net = new Map<string, Net>();
  readonly #contracts: Contracts;
  /** What pools were paid, and what they paid. */
  readonly #collateral = new Map<string, Net>();

  constructor(contracts: Contracts, isWallet: (account: Address) => boolean) {
    this.#contracts = contracts;
    this.#isWallet = isWallet;
  }

  add(entry: Entry): void {
    if (entry.tokens.length > 0) this.#entries.push(entry);
  }

  /** Adds both sides of a transfer between wallets. */
  transfer({ seq, from, to }: Transfer, tokens: readonly TokenAmount[]): void {
    this.add({ seq, wallet: from, kind: "transfer_out", counterparty: to, tokens: negate(tokens) });
    this.add({
      seq,
      wallet: to,
      kind: "transfer_in",
      counterparty: from,
      tokens: getAmounts(tokens),
    });
  }

  /** Adds what a transfer moved, as transfers from its owners. Tokens without an owner are from the sender. */
  transferParts(parts: readonly Part[], { from, to }: Omit<Transfer, "seq">): void {
    for (const [owner, ownerParts] of Map.groupBy(parts, (part) => part.owner)) {
      for (const [seq, tokens] of Map.groupBy(ownerParts, (part) => part.seq)) {
        if (owner === null) {
          this.add({
            seq,
            wallet: to,
            kind: "transfer_in",
            counterparty: from,
            tokens: getAmounts(tokens),
          });
        } else if (owner !== to) {
          this.transfer({ seq, from: owner, to }, tokens);
        }
      }
    }
  }

  /** Adds what wallets got from different senders, as `transferParts` does: a batch is one transfer. */
  transferAll(sent: readonly { readonly from: Address; readonly part: Part }[]): void {
    for (const batch of Map.groupBy(sent, ({ from, part }) => `${from} ${part.at}`).values()) {
      const [first] = batch;
      if (first === undefined) continue;
      const parts = batch.map(({ part }) => part);
      this.transferParts(parts, { from: first.from, to: first.part.at });
    }
  }

  /** Adds parts that a contract kept, or that were burnt without an event, as sent to `to`. */
  keepParts(parts: readonly Part[], to: (part: Part) => Address): void {
    const kept = Map.groupBy(parts, (part) => `${part.seq} ${part.owner} ${to(part)}`);
    for (const keptParts of kept.values()) {
      const [first] = keptParts;
      if (first === undefined || first.owner === null) continue;
      const { seq, owner } = first;
      const tokens = negate(sumTokens(keptParts));
      this.add({ seq, wallet: owner, kind: "transfer_out", counterparty: to(first), tokens });
    }
  }

  /** Counts what a holder received or, negative, sent. Minted and burnt tokens are counted apart. */
  count(wallet: Address, tokens: readonly TokenAmount[], seq: Seq): void {
    for (const { tokenId, amount } of tokens) {
      const sign = wallet === zeroAddress && amount < 0n ? "-" : "";
      const key = wallet + tokenId + sign;
      const net = this.#net.get(key);
      if (net === undefined) this.#net.set(key, { wallet, tokenId, shares: amount, seq });
      else {
        net.shares += amount;
        net.seq = seq;
      }
    }
  }

  /** Counts collateral that a pool paid or, negative, was paid. */
  countCollateral(pool: CollateralPool, amount: bigint, seq: Seq): void {
    const wallet = getPoolAccount(this.#contracts, pool);
    if (wallet === null || amount === 0n) return;
    const key = `${pool} ${amount < 0n}`;
    const shares = amount + (this.#collateral.get(key)?.shares ?? 0n);
    this.#collateral.set(key, { wallet, tokenId: getCollateralId(this.#contracts), shares, seq });
  }

  /** Turns a received transfer into a refund of a fee. */
  refund(
    module: Address,
    { to, tokenId, refund }: { to: Address; tokenId: TokenId; refund: bigint },
  ): void {
    const index = this.#entries.findIndex(
      ({ kind, wallet, counterparty, tokens: [token, ...more] }) =>
        kind === "transfer_in" &&
        wallet === to &&
        counterparty === module &&
        token?.tokenId === tokenId &&
        token.amount === refund &&
        more.length === 0,
    );
    const entry = this.#entries[index];
    if (entry === undefined) return;
    this.#entries[index] = { ...entry, kind: "fee_refund", counterparty: null, via: module };
  }

  /** Returns the rows in order, completed by transfers where they do not add up. */
  finish(location: Pick<LedgerRow, "timestamp" | "txHash">): TransactionLedger {
    const difference = this.#complete();
    const balances = [...this.#net.values(), ...this.#collateral.values()]
      .filter(({ shares }) => shares !== 0n)
      .map(({ shares, ...net }) => ({
        ...net,
        shares: BigInt.asIntN(256, shares),
        timestamp: location.timestamp,
      }));
    return { rows: numbered(this.#entries, location), balances, difference };
  }

  #complete(): Seq | null {
    const sums = new Map<string, bigint>();
    for (const { wallet, tokens } of this.#entries) {
      for (const { tokenId, amount } of tokens) {
        const key = wallet + tokenId;
        sums.set(key, (sums.get(key) ?? 0n) + amount);
      }
    }
    let difference: Seq | null = null;
    for (const [key, { wallet, tokenId, shares, seq }] of this.#net) {
      const missing = shares - (sums.get(key) ?? 0n);
      sums.delete(key);
      if (missing === 0n || !this.#isWallet(wallet)) continue;
      this.#addDifference({ wallet, tokenId, seq }, missing);
      difference ??= seq;
    }
    for (const { wallet, tokens, seq } of this.#entries.slice()) {
      for (const { tokenId } of tokens) {
        const missing = sums.get(wallet + tokenId) ?? 0n;
        sums.delete(wallet + tokenId);
        if (missing === 0n) continue;
        this.#addDifference({ wallet, tokenId, seq }, -missing);
        difference ??= seq;
      }
    }
    return difference;
  }

  #addDifference({ wallet, tokenId, seq }: Omit<Net, "shares">, amount: bigint): void {
    const kind = amount > 0n ? "transfer_in" : "transfer_out";
    this.add({ seq, wallet, kind, tokens: [{ tokenId, amount }] });
  }
}

/** Returns the rows of entries: those of a wallet at one position are numbered in the order in which they were added. */
function numbered(
  entries: readonly Entry[],
  location: Pick<LedgerRow, "timestamp" | "txHash">,
): LedgerRow[] {
  const causes = new Map<string, number>();
  return entries
    .toSorted((one, other) => one.seq - other.seq)
    .flatMap(({ seq, wallet, tokens, cash = 0n, fee = 0n, feeShares = 0n, ...entry }) => {
      const key = seq + wallet;
      const cause = causes.get(key) ?? 0;
      causes.set(key, cause + 1);
      return tokens.map(({ tokenId, amount }, index) => ({
        ...location,
        seq,
        sub: cause * subsPerCause + index,
        wallet,
        tokenId,
        kind: entry.kind,
        role: entry.role ?? null,
        nature: entry.nature ?? null,
        shares: BigInt.asIntN(256, amount),
        cash: index === 0 ? cash : 0n,
        fee: index === 0 ? fee : 0n,
        feeShares: index === 0 ? feeShares : 0n,
        counterparty: entry.counterparty === zeroAddress ? null : (entry.counterparty ?? null),
        via: entry.via ?? null,
      }));
    });
}

/** Returns the tokens of parts without the rest of them, added up. */
export function getAmounts(parts: readonly TokenAmount[]): TokenAmount[] {
  return sumTokens(parts.map(({ tokenId, amount }) => ({ tokenId, amount })));
}
