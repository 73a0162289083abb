/** The events that say why tokens were minted, burnt or passed on, applied to the parts that moved before them. */
import type { Address, Seq } from "../../base/ids.ts";
import type { Contract, Contracts } from "../../contracts/contracts.ts";
import type { PositionsChanged, TokenAmount } from "../../contracts/events.ts";
import { getPool } from "./collateral.ts";
import { type Entry, getAmounts, type LedgerDraft } from "./ledger-draft.ts";
import { type PositionNature, signedSharesMax, zeroAddress } from "./ledger-row.ts";
import type { Movement } from "./settle-fills.ts";
import { extract, negate, type Part } from "./token-flow.ts";

type Parts = {
  readonly contracts: Contracts;
  readonly draft: LedgerDraft;
  readonly isWallet: (account: Address) => boolean;
  readonly getMovements: (exchange: Address) => Movement[];
};

export class PositionChanges {
  readonly #parts: Parts;
  /** Minted to wallets, and burnt, since the last event that claimed such tokens. */
  readonly minted: Part[] = [];
  readonly burnt: Part[] = [];
  /** Sent by the neg-risk adapter, and sent through it to be destroyed: its event comes later. */
  readonly sentByAdapter: Part[] = [];
  readonly destroyed: Part[] = [];
  /** Conversions by the collateral adapter, which has yet to pass on the tokens. */
  readonly #unforwarded = new Map<Address, Entry>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  take(event: PositionsChanged, seq: Seq, contract: Contract): void {
    const { account, cause, cash } = event;
    const { kind, address: via } = contract;
    const { contracts, draft } = this.#parts;
    const others = cause === "split" ? this.burnt : cause === "merge" ? this.minted : [];
    const hasOther = others.some(({ at }) => at === account);
    const pool = getPool(event, { contract, hasOther }, contracts);
    if (pool !== null) draft.countCollateral(pool, cash, seq);
    if (kind === "conditional_tokens") {
      if (this.#parts.isWallet(account)) this.#changeOwn(event, seq, via);
      // Otherwise the event of the neg-risk adapter follows, or the tokens are passed on.
      else if (cause !== "split" && this.#getKind(account) !== "neg_risk_adapter") {
        this.#close(event, seq, account);
      }
    } else if (kind === "neg_risk_adapter") {
      if (cause === "convert") this.#convert(event, seq, via);
      else if (cause === "split") this.#splitByAdapter(event, seq, via);
      else this.#close(event, seq, via);
    } else if (cause === "split" || cause === "hsplit") this.#splitByModule(event, seq, via);
    else if (cause === "merge" || cause === "hmerge" || cause === "redeem") {
      this.#close(event, seq, via);
    } else this.#replace(event, seq, via);
  }

  /** Books what a contract that is not the neg-risk adapter passed on to a wallet, or what a wallet sent. */
  forward(from: Address, to: Address, parts: readonly Part[]): void {
    const { draft } = this.#parts;
    const created = parts.filter(({ isNew }) => isNew);
    draft.transferParts(
      parts.filter(({ isNew }) => !isNew),
      { from, to },
    );
    const [first] = created;
    if (first === undefined) return;
    const { seq } = first;
    const tokens = getAmounts(created);
    const conversion = this.#unforwarded.get(from);
    if (conversion !== undefined) {
      this.#unforwarded.delete(from);
      conversion.tokens.push(...tokens);
      if (conversion.wallet !== to) draft.transfer({ seq, from: conversion.wallet, to }, tokens);
    } else if (tokens.length === 1) {
      // The other tokens of the split went elsewhere, so its payer is not known.
      draft.add({ seq, wallet: to, kind: "transfer_in", counterparty: from, tokens });
    } else {
      draft.add({ seq, wallet: to, kind: "split", via: from, cash: -first.amount, tokens });
    }
  }

  /** Books what no event claimed as transfers. */
  finish(): void {
    const { draft, isWallet } = this.#parts;
    draft.keepParts(this.burnt, ({ at, owner }) => (at === owner ? zeroAddress : at));
    const parts = [...this.destroyed, ...this.minted, ...this.sentByAdapter];
    const transfers = parts
      .filter(({ at }) => isWallet(at))
      .map((part) => ({ from: part.isNew ? zeroAddress : (part.via ?? zeroAddress), part }));
    draft.transferAll(transfers);
  }

  /** A wallet splits, merges or redeems at ConditionalTokens itself. */
  #changeOwn(event: PositionsChanged, seq: Seq, via: Address): void {
    const { account, cause } = event;
    // Only of foreign collateral there are more. They stay transfers, whose kind has the sign.
    const isOwn = ({ at, amount }: Part) => at === account && amount < signedSharesMax;
    const minted = getAmounts(extract(this.minted, isOwn));
    const burnt = negate(getAmounts(extract(this.burnt, isOwn)));
    const [main, other] = cause === "split" ? [minted, burnt] : [burnt, minted];
    const nature = this.#getNature(event, other.length > 0);
    const cash = nature === null || nature === "full" ? event.cash : 0n;
    const tokens = [...inOutcomeOrder(main, event), ...other];
    this.#parts.draft.add({ seq, wallet: account, kind: cause, nature, via, cash, tokens });
  }

  #getNature(event: PositionsChanged, hasOther: boolean): PositionNature | null {
    const { basis } = event;
    if (basis === null) return null;
    if (isForeign(event, this.#parts.contracts)) return "foreign";
    if (basis.parentCollectionId !== null) return "nested";
    if (hasOther) return "subset";
    return basis.indexSets.every((set) => set === 1n || set === 2n) ? null : "full";
  }

  /** A contract burns tokens for their owners, who get the collateral in the ratio of their shares. */
  #close(event: PositionsChanged, seq: Seq, at: Address): void {
    const { draft, isWallet } = this.#parts;
    const burnt = extract(this.burnt, (part) => part.at === at);
    const { cause, cash, recipient, account } = event;
    const receiver = recipient !== null && isWallet(recipient) ? recipient : null;
    const owners = [...Map.groupBy(burnt, ({ owner }) => owner)].filter(
      ([owner]) => owner !== null,
    );
    const total = owners.reduce((sum, [, parts]) => sum + sumAll(parts), 0n);
    let remainingCash = cash;
    for (const [index, [owner, parts]] of owners.entries()) {
      const isLast = index === owners.length - 1;
      const share = isLast ? remainingCash : (cash * sumAll(parts)) / total;
      remainingCash -= share;
      if (owner === null) continue;
      const counterparty = receiver === owner ? null : receiver;
      const tokens = negate(getAmounts(parts));
      const via = parts[0]?.via ?? at;
      draft.add({ seq, wallet: owner, kind: cause, via, cash: share, counterparty, tokens });
    }
    const [first] = burnt;
    // Sent in an earlier transaction: the owner of the shares is not known, only the receiver of the collateral.
    if (owners.length > 0 || first === undefined || receiver === null) return;
    if (this.#getKind(account) === "exchange") return;
    const tokens = [{ tokenId: first.tokenId, amount: 0n }];
    draft.add({ seq, wallet: receiver, kind: cause, via: at, cash, tokens });
  }

  #splitByAdapter({ account, cash }: PositionsChanged, seq: Seq, via: Address): void {
    const tokens = getAmounts(extract(this.sentByAdapter, ({ at }) => at === account));
    // A contract passes them on.
    if (!this.#parts.isWallet(account)) return;
    this.#parts.draft.add({ seq, wallet: account, kind: "split", via, cash, tokens });
  }

  /**
   * A conversion of the neg-risk adapter: the NO tokens of the user and those of the other questions are destroyed; the
   * user gets the YES tokens of the others, less a fee, and collateral for all NO tokens but one. The collateral is
   * not logged. Without YES tokens the fee is not known here: `position.ts` subtracts it.
   */
  #convert({ account }: PositionsChanged, seq: Seq, adapter: Address): void {
    const { draft, isWallet } = this.#parts;
    const given = extract(this.destroyed, () => true);
    const sent = extract(this.sentByAdapter, () => true);
    const yes = getAmounts(sent.filter(({ at }) => at === account));
    const isDirect = isWallet(account);
    const wallet = isDirect ? account : (given.find(({ owner }) => owner !== null)?.owner ?? null);
    const converted = getAmounts(given);
    if (wallet !== null) {
      const walletTokens = negate(getAmounts(given.filter(({ owner }) => owner === wallet)));
      const paid = yes[0]?.amount ?? converted[0]?.amount ?? 0n;
      const cash = BigInt(Math.max(converted.length - 1, 0)) * paid;
      const tokens = isDirect ? [...walletTokens, ...yes] : walletTokens;
      const entry: Entry = {
        seq,
        wallet,
        kind: "convert",
        via: isDirect ? adapter : account,
        cash,
        tokens,
      };
      draft.add(entry);
      if (!isDirect && yes.length > 0) this.#unforwarded.set(account, entry);
    }
    const others = [...given, ...sent.filter(({ at }) => at !== account)];
    for (const [receiver, parts] of Map.groupBy(others, ({ at }) => at)) {
      if (!isWallet(receiver)) continue;
      const counterparty = wallet ?? adapter;
      draft.add({
        seq,
        wallet: receiver,
        kind: "transfer_in",
        counterparty,
        tokens: getAmounts(parts),
      });
    }
  }

  /** Tokens of a module that were minted to wallets. A caller that is a contract pays for its only receiver. */
  #splitByModule({ account, cause, cash }: PositionsChanged, seq: Seq, module: Address): void {
    const { draft, isWallet, getMovements } = this.#parts;
    const minted = extract(this.minted, ({ amount }) => amount === -cash);
    const [first] = minted;
    if (first === undefined) return;
    if (this.#getKind(account) === "exchange") {
      const movements = minted.map(({ at, ...part }) => ({ ...part, wallet: at }));
      getMovements(account).push(...movements);
      return;
    }
    const isForOne = minted.every(({ at }) => at === first.at);
    const payer = isWallet(account) ? account : isForOne ? first.at : null;
    if (payer === null) return this.#give(minted, { seq, from: module });
    draft.add({ seq, wallet: payer, kind: cause, via: module, cash, tokens: getAmounts(minted) });
    this.#passOn(minted, { seq, from: payer });
  }

  /** A module turns the tokens of a wallet into others. */
  #replace(event: PositionsChanged, seq: Seq, module: Address): void {
    const { draft, isWallet } = this.#parts;
    const burnt = extract(this.burnt, ({ at }) => at === module);
    const minted = extract(this.minted, () => true);
    const wallet = burnt.find(({ owner }) => owner !== null)?.owner ?? null;
    if (wallet === null) return this.#give(minted, { seq, from: module });
    const { cause: kind, cash, recipient } = event;
    const isOther = recipient !== null && recipient !== wallet && isWallet(recipient) && cash > 0n;
    const counterparty = isOther ? recipient : null;
    const walletParts = burnt.filter(({ owner }) => owner === wallet);
    const tokens = [...negate(getAmounts(walletParts)), ...getAmounts(minted)];
    draft.add({ seq, wallet, kind, via: module, cash, counterparty, tokens });
    draft.keepParts(
      burnt.filter(({ owner }) => owner !== wallet),
      () => module,
    );
    this.#passOn(minted, { seq, from: wallet });
  }

  /** Books what wallets got from a contract without a known payer. */
  #give(
    parts: readonly Part[],
    { seq, from }: { readonly seq: Seq; readonly from: Address },
  ): void {
    for (const [wallet, received] of Map.groupBy(parts, ({ at }) => at)) {
      const tokens = getAmounts(received);
      this.#parts.draft.add({ seq, wallet, kind: "transfer_in", counterparty: from, tokens });
    }
  }

  /** Books what wallets got from the one that the tokens were minted for. */
  #passOn(
    parts: readonly Part[],
    { seq, from }: { readonly seq: Seq; readonly from: Address },
  ): void {
    for (const [to, received] of Map.groupBy(parts, ({ at }) => at)) {
      if (to !== from) this.#parts.draft.transfer({ seq, from, to }, received);
    }
  }

  #getKind(account: Address): Contract["kind"] | null {
    return this.#parts.contracts.byAddress.get(account)?.kind ?? null;
  }
}

/** Whether positions are of another collateral than those of markets. */
export function isForeign(
  { basis }: Pick<PositionsChanged, "basis">,
  { collateral, wrappedCollateral }: Contracts,
): boolean {
  return (
    basis !== null && basis.collateral !== collateral && basis.collateral !== wrappedCollateral
  );
}

function sumAll(parts: readonly TokenAmount[]): bigint {
  return parts.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Orders tokens, which are in the order of the index sets of the event, by index set. */
function inOutcomeOrder(
  tokens: readonly TokenAmount[],
  { basis }: PositionsChanged,
): TokenAmount[] {
  const sets = basis?.indexSets ?? [];
  if (sets.length !== tokens.length) return [...tokens];
  const order = sets.map((set, index) => ({ set, token: tokens[index] }));
  return order
    .toSorted((one, other) => Number(one.set - other.set))
    .flatMap(({ token }) => token ?? []);
}
