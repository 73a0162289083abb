/** What the contracts of generation 3 log for operations on positions, in their order. */
import type { Address, TokenId } from "../../../../src/base/ids.ts";
import type { TokenAmount } from "../../../../src/contracts/events.ts";
import type { LedgerKind } from "../../../../src/market/ledger/ledger-row.ts";
import { zeroAddress } from "../../../../src/market/ledger/ledger-row.ts";
import { isPassThrough } from "../../../../src/market/ledger/token-flow.ts";
import { contracts } from "../../simulation.ts";
import type { Word } from "../model-log.ts";
import {
  autoRedeemer,
  ctf,
  gen3Event,
  gen3EventId,
  type ModelCondition,
  modules,
  positionManager,
} from "../model-markets.ts";
import { each, type ModelTransaction, negate } from "../model-transaction.ts";
import { burnAtCtf, type Change, getPayout, redeemAtCtf } from "./legacy-contracts.ts";

/** Who owns the tokens, who calls the module, and who gets what it makes or pays. */
export type Actors = {
  readonly owner: Address;
  /** The owner, or the router, which calls for it. */
  readonly caller: Address;
  readonly recipients: readonly Address[];
};

const first = (list: readonly Address[]): Address => list[0] ?? zeroAddress;

function mint(
  tx: ModelTransaction,
  module: Address,
  { to, tokens }: { readonly to: Address; readonly tokens: readonly TokenAmount[] },
): void {
  const parties = { at: positionManager, operator: module, from: zeroAddress, to };
  for (const token of tokens) tx.move(parties, token);
}

function burn(tx: ModelTransaction, module: Address, tokens: readonly TokenAmount[]): void {
  const parties = { at: positionManager, operator: module, from: module, to: zeroAddress };
  for (const token of tokens) tx.move(parties, token);
}

/** The owner, or the contract that it called, sends tokens to the module first. */
function send(
  tx: ModelTransaction,
  { owner, caller }: Actors,
  { module, tokens }: { readonly module: Address; readonly tokens: readonly TokenAmount[] },
): void {
  const parties = { at: positionManager, operator: caller, from: owner, to: module };
  // Wallets send as they like: single transfers, or a batch that can begin with nothing and name a token twice.
  const form = tx.logs.length % 3;
  if (form === 0) for (const token of tokens) tx.move(parties, token);
  else if (form === 1) tx.moveBatch(parties, tokens);
  else {
    const [first, ...others] = tokens;
    if (first === undefined) return;
    const half = first.amount / 2n;
    const nothing = { tokenId: tokens.at(-1)?.tokenId ?? first.tokenId, amount: 0n };
    const parts = [
      { ...first, amount: half },
      ...others,
      { ...first, amount: first.amount - half },
    ];
    tx.moveBatch(parties, [nothing, ...parts]);
  }
}

/** A module mints a set. A router pays for its only recipient; who paid for several is not known. */
export function split(
  tx: ModelTransaction,
  { caller, recipients }: Actors,
  { condition, amount }: Change,
): void {
  const { module, tokens, id } = condition;
  const [to0 = zeroAddress, to1 = to0] = recipients;
  const made = each(tokens, amount);
  mint(tx, module, { to: to0, tokens: made.slice(0, 1) });
  mint(tx, module, { to: to1, tokens: made.slice(1) });
  tx.emit(module, "PositionsSplit(address,bytes31,address,address,uint256)", {
    topics: [caller, id, to0],
    data: [to1, amount],
  });
  tx.pay("protocol_v2", amount);
  const payer = isWallet(caller) ? caller : to0 === to1 ? to0 : null;
  if (payer !== null) {
    tx.book({ wallet: payer, kind: "split", via: module, cash: -amount, tokens: made });
    const [yes, no] = [made.slice(0, 1), made.slice(1)];
    if (to0 === to1) tx.bookTransfer(payer, to0, made);
    else
      for (const [to, part] of [
        [to0, yes],
        [to1, no],
      ] as const)
        tx.bookTransfer(payer, to, part);
  } else {
    for (const [to, part] of [
      [to0, made.slice(0, 1)],
      [to1, made.slice(1)],
    ] as const) {
      tx.book({ wallet: to, kind: "transfer_in", counterparty: module, tokens: part });
    }
  }
}

/** A module burns a set that it was sent. */
export function merge(tx: ModelTransaction, actors: Actors, { condition, amount }: Change): void {
  const { module, tokens, id } = condition;
  const given = each(tokens, amount);
  send(tx, actors, { module, tokens: given });
  burn(tx, module, given);
  const to = first(actors.recipients);
  tx.emit(module, "PositionsMerged(address,bytes31,address,uint256)", {
    topics: [actors.caller, id, to],
    data: [amount],
  });
  bookClosed(tx, actors, { kind: "merge", module, cash: amount, tokens: given });
}

/** One dollar becomes one Yes of each condition of an event. */
export function splitHorizontally(
  tx: ModelTransaction,
  { caller, recipients }: Actors,
  amount: bigint,
): void {
  const to = first(recipients);
  const module = modules.neg_risk;
  const made = each(yesTokens, amount);
  tx.moveBatch({ at: positionManager, operator: module, from: zeroAddress, to }, made);
  tx.emit(module, "HorizontalSplit(address,bytes29,address,uint256)", {
    topics: [caller, gen3EventId, to],
    data: [amount],
  });
  tx.pay("protocol_v2", amount);
  const payer = isWallet(caller) ? caller : to;
  tx.book({ wallet: payer, kind: "hsplit", via: module, cash: -amount, tokens: made });
  tx.bookTransfer(payer, to, made);
}

export function mergeHorizontally(tx: ModelTransaction, actors: Actors, amount: bigint): void {
  const module = modules.neg_risk;
  const given = each(yesTokens, amount);
  send(tx, actors, { module, tokens: given });
  tx.moveBatch({ at: positionManager, operator: module, from: module, to: zeroAddress }, given);
  tx.emit(module, "HorizontalMerge(address,bytes29,address,uint256)", {
    topics: [actors.caller, gen3EventId, first(actors.recipients)],
    data: [amount],
  });
  bookClosed(tx, actors, { kind: "hmerge", module, cash: amount, tokens: given });
}

/** A No of one condition of an event becomes a Yes of each other. */
export function convertAtModule(
  tx: ModelTransaction,
  actors: Actors,
  { index, amount }: { readonly index: number; readonly amount: bigint },
): void {
  const no = gen3Event[index]?.tokens[1] as TokenId;
  const made = each(yesTokens.toSpliced(index, 1), amount);
  const data = [index, amount];
  replace(tx, actors, {
    kind: "convert",
    module: modules.neg_risk,
    given: each([no], amount),
    made,
    event: [
      "PositionConverted(address,bytes29,address,uint256,uint256)",
      { topics: [actors.caller, gen3EventId, first(actors.recipients)], data },
    ],
  });
}

/** Tokens of the owner become others, each for its recipient or all for the first. Only a compression can pay collateral. */
export type Replacement = {
  readonly kind: LedgerKind;
  readonly module: Address;
  readonly given: readonly TokenAmount[];
  readonly made: readonly TokenAmount[];
  readonly cash?: bigint;
  readonly event: readonly [
    signature: string,
    content: {
      readonly topics: readonly Word[];
      readonly data: readonly (Word | readonly Word[])[];
    },
  ];
};

export function replace(tx: ModelTransaction, actors: Actors, change: Replacement): void {
  const { kind, module, given, made, cash = 0n, event } = change;
  const to = first(actors.recipients);
  const received = Map.groupBy(made, (_, index) => actors.recipients[index] ?? to);
  send(tx, actors, { module, tokens: given });
  for (const [recipient, tokens] of received) mint(tx, module, { to: recipient, tokens });
  burn(tx, module, given);
  tx.emit(module, ...event);
  tx.pay("protocol_v2", -cash);
  const { owner } = actors;
  const counterparty = cash > 0n && to !== owner && isWallet(to) ? to : null;
  const tokens = [...negate(given), ...made];
  tx.book({ wallet: owner, kind, via: module, cash, counterparty, tokens });
  for (const [recipient, part] of received) tx.bookTransfer(owner, recipient, part);
}

/** Redeems a token of generation 3. The AutoRedeemer calls for the owner, and passes on the payout. */
export function redeem(tx: ModelTransaction, actors: Actors, token: TokenAmount): void {
  const module = getModule(token.tokenId);
  const payout = getPayout(tx, token.tokenId, token.amount);
  send(tx, actors, { module, tokens: [token] });
  burn(tx, module, [token]);
  tx.emit(module, "PositionRedeemed(address,uint256,address,uint256,uint256)", {
    topics: [actors.caller, token.tokenId, first(actors.recipients)],
    data: [token.amount, payout],
  });
  if (actors.caller === autoRedeemer) {
    tx.emit(autoRedeemer, "Redemption(address,uint256,uint256)", {
      topics: [actors.owner],
      data: [token.tokenId, payout],
    });
  }
  bookClosed(tx, actors, { kind: "redeem", module, cash: payout, tokens: [token] });
}

/** A module burns tokens that somebody sent it in an earlier transaction: only who gets the collateral is known. */
export function closeOwnerless(
  tx: ModelTransaction,
  { caller, recipient }: { readonly caller: Address; readonly recipient: Address },
  { condition, amount }: Change,
): void {
  const { module, tokens, id } = condition;
  burn(tx, module, each(tokens, amount));
  tx.emit(module, "PositionsMerged(address,bytes31,address,uint256)", {
    topics: [caller, id, recipient],
    data: [amount],
  });
  tx.pay("protocol_v2", -amount);
  const [closed] = each(tokens.slice(0, 1), 0n);
  if (closed === undefined || !isWallet(recipient)) return;
  tx.book({ wallet: recipient, kind: "merge", via: module, cash: amount, tokens: [closed] });
}

/** A legacy token becomes the token of the same outcome of the mirror. */
export function migrate(
  tx: ModelTransaction,
  { wallet, isClosing }: { readonly wallet: Address; readonly isClosing: boolean },
  {
    condition,
    tokens,
  }: { readonly condition: ModelCondition; readonly tokens: readonly TokenAmount[] },
): void {
  const { module, legacy, id } = condition;
  if (legacy === null) return;
  const getOutcome = ({ tokenId }: TokenAmount) => legacy.tokens.indexOf(tokenId);
  const made = tokens.map((token) => ({
    tokenId: condition.tokens[getOutcome(token)] as TokenId,
    amount: token.amount,
  }));
  tx.moveBatch({ at: ctf, operator: module, from: wallet, to: module }, tokens);
  tx.moveBatch({ at: positionManager, operator: module, from: zeroAddress, to: wallet }, made);
  const settled = closeLegacy(tx, condition, isClosing);
  for (const [index, token] of tokens.entries()) {
    const minted = made[index];
    if (minted === undefined) continue;
    tx.emit(module, "PositionMigrated(address,bytes31,uint256,uint256,uint256)", {
      topics: [wallet, id, minted.tokenId],
      data: [getOutcome(token), token.amount],
    });
    tx.book({ wallet, kind: "migrate", via: module, tokens: [...negate([token]), minted] });
  }
  if (settled === 0n) return;
  tx.emit(module, "LegacyCollateralSettled(address,address,uint256)", {
    topics: [contracts.collateral, positionManager],
    data: [settled],
  });
  tx.pay("protocol_v2", settled);
}

/** A module of a mirror redeems what it has of a resolved legacy condition, or merges it. Returns what it got. */
function closeLegacy(tx: ModelTransaction, condition: ModelCondition, isClosing: boolean): bigint {
  const { module, legacy } = condition;
  if (legacy === null) return 0n;
  if (tx.state.resolved.has(legacy.id)) {
    if (!tx.state.resolved.has(condition.id)) resolveMirror(tx, condition);
    return redeemAtCtf(tx, module, { condition: legacy }).payout;
  }
  const [yes = 0n, no = 0n] = legacy.tokens.map((tokenId) => tx.balance(module, tokenId));
  const amount = yes < no ? yes : no;
  if (!isClosing || amount === 0n) return 0n;
  burnAtCtf(tx, module, { condition: legacy, amount });
  return amount;
}

/** A mirror takes the result of its legacy condition. */
export function resolveMirror(tx: ModelTransaction, condition: ModelCondition): void {
  const { legacy, tokens } = condition;
  const [yes] = legacy?.tokens ?? [];
  if (yes === undefined || legacy === null) return;
  const paid = getPayout(tx, yes, 1_000_000n);
  resolveAtModule(tx, condition, [paid, 1_000_000n - paid]);
  const results = [0, 1].map((index) => getPayout(tx, legacy.tokens[index] as TokenId, 1_000_000n));
  tx.emit(condition.module, "MigrationResolved(bytes31,bytes32,uint256,uint256,uint256,uint256)", {
    topics: [condition.id, legacy.id],
    data: [...results, paid, 1_000_000n - paid],
  });
  if (tokens.length !== 2) throw new RangeError("a mirror has two tokens");
}

export function resolveAtModule(
  tx: ModelTransaction,
  condition: ModelCondition,
  numerators: readonly bigint[],
): void {
  tx.emit(condition.module, "ConditionResolved(bytes31,uint256[])", {
    topics: [condition.id],
    data: [numerators],
  });
  tx.state.resolved.add(condition.id);
  tx.resolve(condition.tokens, numerators);
}

export function getModule(tokenId: TokenId): Address {
  const digits = tokenId.slice(2, 4);
  return digits === "01"
    ? modules.binary
    : digits === "02"
      ? modules.neg_risk
      : modules.combinatorial;
}

const yesTokens: readonly TokenId[] = gen3Event.map(({ tokens }) => tokens[0] as TokenId);

/** Tokens that a module burnt are the owner's, and so is their collateral, whoever receives it. */
function bookClosed(
  tx: ModelTransaction,
  { owner, caller, recipients }: Actors,
  closed: {
    readonly kind: LedgerKind;
    readonly module: Address;
    readonly cash: bigint;
    readonly tokens: readonly TokenAmount[];
  },
): void {
  const { kind, module, cash, tokens } = closed;
  tx.pay("protocol_v2", -cash);
  const to = first(recipients);
  const counterparty = to !== owner && isWallet(to) ? to : null;
  const via = caller === autoRedeemer ? autoRedeemer : module;
  tx.book({ wallet: owner, kind, via, cash, counterparty, tokens: negate(tokens) });
}

function isWallet(account: Address): boolean {
  return account !== zeroAddress && !isPassThrough(contracts, account);
}
