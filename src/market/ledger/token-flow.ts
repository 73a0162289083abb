/** Tokens on their way through contracts that hold them only within a transaction. */
import type { Address, Seq, TokenId } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { TokenAmount } from "../../contracts/events.ts";

/** Tokens of one owner on their way. */
export type Part = TokenAmount & {
  readonly seq: Seq;
  /** The wallet that they belong to; `null` if it is an exchange or not known, or they were just minted. */
  readonly owner: Address | null;
  /** The account that has them: the contract, or the receiver or burner after they left it. */
  readonly at: Address;
  /** The first contract that the owner passed them to. */
  readonly via: Address | null;
  readonly isNew: boolean;
};

const passThroughKinds: ReadonlySet<string> = new Set([
  "exchange",
  "neg_risk_adapter",
  "collateral_adapter",
  "auto_redeemer",
  "router",
  "binary_module",
  "neg_risk_module",
  "combinatorial_module",
]);

/** Whether an account is a contract that passes tokens on. It has balances, but no ledger. */
export function isPassThrough({ byAddress }: Contracts, account: Address): boolean {
  const contract = byAddress.get(account);
  return contract !== undefined && passThroughKinds.has(contract.kind);
}

/** Whether the ledger has every trade of an account. */
export function hasWholeLedger(contracts: Contracts, account: Address): boolean {
  return contracts.wallets && !isPassThrough(contracts, account);
}

/** What each contract holds, by token, in the order of arrival. */
export class TokenFlow {
  readonly #held = new Map<Address, Map<TokenId, Part[]>>();

  hold(part: Part): void {
    const tokens = this.#held.get(part.at) ?? new Map<TokenId, Part[]>();
    this.#held.set(part.at, tokens);
    const parts = tokens.get(part.tokenId);
    if (parts === undefined) tokens.set(part.tokenId, [part]);
    else parts.push(part);
  }

  /** Moves an amount from a contract to an account. What the contract had before the transaction has no owner. */
  take(
    from: Address,
    { tokenId, amount }: TokenAmount,
    location: Pick<Part, "at" | "seq">,
  ): Part[] {
    const parts = this.#held.get(from)?.get(tokenId) ?? [];
    const taken: Part[] = [];
    let remaining = amount;
    while (remaining > 0n) {
      const first = parts[0];
      if (first === undefined) {
        taken.push({
          tokenId,
          amount: remaining,
          owner: null,
          via: null,
          isNew: false,
          ...location,
        });
        break;
      }
      const part = first.amount < remaining ? first.amount : remaining;
      taken.push({ ...first, ...location, amount: part });
      if (part === first.amount) parts.shift();
      else parts[0] = { ...first, amount: first.amount - part };
      remaining -= part;
    }
    return taken;
  }

  /** What contracts still hold. */
  heldParts(): Part[] {
    return [...this.#held.values()].flatMap((tokens) => [...tokens.values()].flat());
  }
}

/** Adds up amounts of the same token, in the order of first appearance. */
export function sumTokens(tokens: readonly TokenAmount[]): TokenAmount[] {
  if (tokens.length < 2) return [...tokens];
  const sums = new Map<TokenId, bigint>();
  for (const { tokenId, amount } of tokens) {
    sums.set(tokenId, (sums.get(tokenId) ?? 0n) + amount);
  }
  return [...sums].map(([tokenId, amount]) => ({ tokenId, amount }));
}

/** Returns the tokens as given away. */
export function negate(tokens: readonly TokenAmount[]): TokenAmount[] {
  return tokens.map(({ tokenId, amount }) => ({ tokenId, amount: -amount }));
}

/** Removes the items that match from a list, and returns them. */
export function extract<Item>(list: Item[], matches: (item: Item) => boolean): Item[] {
  const { found = [], rest = [] } = Object.groupBy(list, (item) =>
    matches(item) ? "found" : "rest",
  );
  list.splice(0, list.length, ...rest);
  return found;
}
