/** What the contracts of generations 1 and 2 log for splits, merges, conversions and redemptions, in their order. */
import type { Address, Hash, TokenId } from "../../../../src/base/ids.ts";
import { zeroHash } from "../../../../src/base/ids.ts";
import type { PositionNature } from "../../../../src/market/ledger/ledger-row.ts";
import { zeroAddress } from "../../../../src/market/ledger/ledger-row.ts";
import { contracts } from "../../simulation.ts";
import {
  autoRedeemer,
  burnAddress,
  ctf,
  type ModelCondition,
  type ModelEvent,
  negRiskAdapter,
  vault,
} from "../model-markets.ts";
import { each, type ModelTransaction, negate } from "../model-transaction.ts";

/** A change of positions in a condition. */
export type Change = {
  readonly condition: ModelCondition;
  readonly amount: bigint;
  readonly made?: Made;
};

/** Positions of ConditionalTokens that are made of another one, which is burnt by a split and minted by a merge. */
export type Made = {
  readonly nature: PositionNature;
  readonly from: TokenId | null;
  readonly sets: readonly bigint[];
};

/** Somebody who calls a contract, directly or through an adapter. */
export type Caller = { readonly wallet: Address; readonly via: Address };

const pairSets = [1n, 2n];
const parentCollection = `0x${"c0".repeat(32)}` as Hash;
const splitEvent = "PositionSplit(address,address,bytes32,bytes32,uint256[],uint256)";
const mergeEvent = "PositionsMerge(address,address,bytes32,bytes32,uint256[],uint256)";

/** ConditionalTokens mints a set for an account. */
export function mintAtCtf(tx: ModelTransaction, account: Address, change: Change): void {
  const { condition, amount, made } = change;
  const parties = { at: ctf, operator: account, from: zeroAddress, to: account };
  if (made?.from) {
    tx.move({ ...parties, from: account, to: zeroAddress }, { tokenId: made.from, amount });
  }
  tx.moveBatch(parties, each(condition.tokens.slice(0, made?.sets.length ?? 2), amount));
  tx.emit(ctf, splitEvent, toBasis(account, change));
  if (isOwnCollateral(condition) && !made?.from) tx.pay("standard", amount);
}

/** ConditionalTokens burns a set of an account. */
export function burnAtCtf(tx: ModelTransaction, account: Address, change: Change): void {
  const { condition, amount, made } = change;
  const parties = { at: ctf, operator: account, from: account, to: zeroAddress };
  tx.moveBatch(parties, each(condition.tokens.slice(0, made?.sets.length ?? 2), amount));
  if (made?.from) {
    tx.move({ ...parties, from: zeroAddress, to: account }, { tokenId: made.from, amount });
  }
  tx.emit(ctf, mergeEvent, toBasis(account, change));
  if (isOwnCollateral(condition) && !made?.from) tx.pay("standard", -amount);
}

/** ConditionalTokens redeems all that an account has of some outcomes. Returns the payout and the burnt tokens. */
export function redeemAtCtf(
  tx: ModelTransaction,
  account: Address,
  {
    condition,
    sets = pairSets,
    made,
  }: {
    readonly condition: ModelCondition;
    readonly sets?: readonly bigint[];
    readonly made?: Made;
  },
) {
  const burnt = sets.flatMap((set) => {
    const tokenId = condition.tokens[Math.log2(Number(set))] as TokenId;
    const amount = tx.balance(account, tokenId);
    return amount === 0n ? [] : [{ tokenId, amount }];
  });
  const parties = { at: ctf, operator: account, from: account, to: zeroAddress };
  let payout = 0n;
  for (const token of burnt) {
    tx.move(parties, token);
    payout += getPayout(tx, token.tokenId, token.amount);
  }
  if (made?.from && payout > 0n) {
    tx.move({ ...parties, from: zeroAddress, to: account }, { tokenId: made.from, amount: payout });
  }
  tx.emit(ctf, "PayoutRedemption(address,address,bytes32,bytes32,uint256[],uint256)", {
    topics: [account, condition.collateral, made?.from ? parentCollection : zeroHash],
    data: [condition.id, sets, payout],
  });
  if (isOwnCollateral(condition) && !made?.from) tx.pay("standard", -payout);
  return { payout, burnt };
}

export function getPayout(tx: ModelTransaction, tokenId: TokenId, amount: bigint): bigint {
  const { numerator, sum } = tx.state.payouts.get(tokenId) ?? { numerator: 0n, sum: 1n };
  return (amount * numerator) / sum;
}

/** A split or merge by a wallet at ConditionalTokens itself. */
export function changeAtCtf(
  tx: ModelTransaction,
  { wallet, kind }: { readonly wallet: Address; readonly kind: "split" | "merge" },
  change: Change,
): void {
  const isIn = kind === "split";
  (isIn ? mintAtCtf : burnAtCtf)(tx, wallet, change);
  const { condition, amount, made } = change;
  const own = each(condition.tokens.slice(0, made?.sets.length ?? 2), amount);
  const other = made?.from ? [{ tokenId: made.from, amount: -amount }] : [];
  const nature = made?.nature ?? null;
  const hasCash = nature === null || nature === "full";
  tx.book({
    wallet,
    kind,
    nature,
    via: ctf,
    cash: hasCash ? (isIn ? -amount : amount) : 0n,
    tokens: isIn ? [...own, ...other] : negate([...own, ...other]),
  });
}

/** The neg-risk adapter mints a set for an account. */
export function mintAtAdapter(tx: ModelTransaction, account: Address, change: Change): void {
  const { condition, amount } = change;
  mintAtCtf(tx, negRiskAdapter, change);
  const parties = { at: ctf, operator: negRiskAdapter, from: negRiskAdapter, to: account };
  tx.moveBatch(parties, each(condition.tokens, amount));
  tx.emit(negRiskAdapter, "PositionSplit(address,bytes32,uint256)", {
    topics: [account, condition.id],
    data: [amount],
  });
  tx.pay("neg_risk", amount);
}

/** The neg-risk adapter burns a set of an account. */
export function burnAtAdapter(tx: ModelTransaction, account: Address, change: Change): void {
  const { condition, amount } = change;
  const parties = { at: ctf, operator: negRiskAdapter, from: account, to: negRiskAdapter };
  tx.moveBatch(parties, each(condition.tokens, amount));
  burnAtCtf(tx, negRiskAdapter, change);
  tx.emit(negRiskAdapter, "PositionsMerge(address,bytes32,uint256)", {
    topics: [account, condition.id],
    data: [amount],
  });
  tx.pay("neg_risk", -amount);
}

/** The collateral adapter of generation 2, or the neg-risk adapter, mints a set for an account. */
export function mintFor(tx: ModelTransaction, { wallet, via }: Caller, change: Change): void {
  if (via === negRiskAdapter) return mintAtAdapter(tx, wallet, change);
  const { condition, amount } = change;
  (condition.kind === "neg_risk" ? mintAtAdapter : mintAtCtf)(tx, via, change);
  tx.moveBatch({ at: ctf, operator: via, from: via, to: wallet }, each(condition.tokens, amount));
}

export function burnFor(tx: ModelTransaction, { wallet, via }: Caller, change: Change): void {
  if (via === negRiskAdapter) return burnAtAdapter(tx, wallet, change);
  const { condition, amount } = change;
  tx.moveBatch({ at: ctf, operator: via, from: wallet, to: via }, each(condition.tokens, amount));
  (condition.kind === "neg_risk" ? burnAtAdapter : burnAtCtf)(tx, via, change);
}

/** A split or merge through an adapter. */
export function changeByAdapter(
  tx: ModelTransaction,
  { kind, ...caller }: Caller & { readonly kind: "split" | "merge" },
  change: Change,
): void {
  const isIn = kind === "split";
  (isIn ? mintFor : burnFor)(tx, caller, change);
  const amount = isIn ? change.amount : -change.amount;
  tx.book({ ...caller, kind, cash: -amount, tokens: each(change.condition.tokens, amount) });
}

/** No tokens of an event become Yes tokens of its other questions, and collateral. */
export function convert(
  tx: ModelTransaction,
  { wallet, via }: Caller,
  {
    event,
    set,
    amount,
  }: { readonly event: ModelEvent; readonly set: number; readonly amount: bigint },
): void {
  const account = via === negRiskAdapter ? wallet : via;
  const questions = event.conditions.slice(0, tx.state.questions.get(event.id) ?? 0);
  const isSet = (_: ModelCondition, index: number) => (set & (1 << index)) !== 0;
  const given = questions.filter(isSet);
  const rest = questions.filter((one, index) => !isSet(one, index));
  const fee = (amount * event.feeBips) / 10_000n;
  const no = (list: readonly ModelCondition[]) => list.map(({ tokens }) => tokens[1] as TokenId);
  const yes = rest.map(({ tokens }) => tokens[0] as TokenId);
  const from = (sender: Address, to: Address) => ({
    at: ctf,
    operator: negRiskAdapter,
    from: sender,
    to,
  });
  if (account !== wallet) {
    tx.moveBatch(
      { at: ctf, operator: account, from: wallet, to: account },
      each(no(given), amount),
    );
  }
  for (const condition of rest) mintAtCtf(tx, negRiskAdapter, { condition, amount });
  tx.moveBatch(from(account, burnAddress), each(no(given), amount));
  tx.moveBatch(from(negRiskAdapter, burnAddress), each(no(rest), amount));
  if (yes.length > 0) {
    if (fee > 0n) tx.moveBatch(from(negRiskAdapter, vault), each(yes, fee));
    tx.moveBatch(from(negRiskAdapter, account), each(yes, amount - fee));
  }
  const topics = [account, event.id, BigInt(set)];
  tx.emit(negRiskAdapter, "PositionsConverted(address,bytes32,uint256,uint256)", {
    topics,
    data: [amount],
  });
  if (account !== wallet && yes.length > 0) {
    tx.moveBatch(
      { at: ctf, operator: account, from: account, to: wallet },
      each(yes, amount - fee),
    );
  }
  const dollars = BigInt(given.length - 1);
  tx.pay("neg_risk", -dollars * amount);
  const tokens = [...each(no(given), -amount), ...each(yes, amount - fee)];
  // Without Yes tokens the fee is not in the logs.
  const cash = dollars * (yes.length > 0 ? amount - fee : amount);
  tx.book({ wallet, kind: "convert", via, cash, tokens }, dollars * (amount - fee));
  const destroyed = each([...no(given), ...no(rest)], amount);
  tx.book({ wallet: burnAddress, kind: "transfer_in", counterparty: wallet, tokens: destroyed });
  tx.book({ wallet: vault, kind: "transfer_in", counterparty: wallet, tokens: each(yes, fee) });
}

/** A redemption by a wallet at ConditionalTokens itself. */
export function redeemOwn(
  tx: ModelTransaction,
  wallet: Address,
  request: {
    readonly condition: ModelCondition;
    readonly sets?: readonly bigint[];
    readonly made?: Made;
  },
): void {
  const { payout, burnt } = redeemAtCtf(tx, wallet, request);
  const nature = request.made?.nature ?? null;
  const made = request.made?.from ? [{ tokenId: request.made.from, amount: payout }] : [];
  const cash = nature === null || nature === "full" ? payout : 0n;
  tx.book({ wallet, kind: "redeem", nature, via: ctf, cash, tokens: [...negate(burnt), ...made] });
}

/**
 * A redemption through an adapter or by the AutoRedeemer, which redeem all that they have. What they had before is
 * paid to the wallet as well, unless it had nothing itself.
 */
export function redeemFor(
  tx: ModelTransaction,
  { wallet, via }: Caller,
  {
    condition,
    amounts,
  }: { readonly condition: ModelCondition; readonly amounts: readonly bigint[] },
): void {
  const tokens = condition.tokens.map((tokenId, index) => ({
    tokenId,
    amount: amounts[index] ?? 0n,
  }));
  tx.moveBatch({ at: ctf, operator: via, from: wallet, to: via }, tokens);
  let payout: bigint;
  if (condition.kind !== "neg_risk") ({ payout } = redeemAtCtf(tx, via, { condition }));
  else {
    if (via !== negRiskAdapter) {
      tx.moveBatch({ at: ctf, operator: negRiskAdapter, from: via, to: negRiskAdapter }, tokens);
    }
    ({ payout } = redeemAtCtf(tx, negRiskAdapter, { condition }));
    tx.emit(negRiskAdapter, "PayoutRedemption(address,bytes32,uint256[],uint256)", {
      topics: [via === negRiskAdapter ? wallet : via, condition.id],
      data: [amounts, payout],
    });
    tx.pay("neg_risk", -payout);
  }
  if (via === autoRedeemer) {
    const name = condition.kind === "neg_risk" ? "NegRiskRedemption" : "BinaryRedemption";
    tx.emit(via, `${name}(address,bytes32,uint256)`, {
      topics: [wallet, condition.id],
      data: [payout],
    });
  }
  const own = negate(tokens.filter(({ amount }) => amount > 0n));
  if (own.length > 0) tx.book({ wallet, kind: "redeem", via, cash: payout, tokens: own });
}

/** The oracle of a condition reports its result. */
export function resolveLegacy(
  tx: ModelTransaction,
  condition: ModelCondition,
  numerators: readonly bigint[],
): void {
  tx.emit(ctf, "ConditionResolution(bytes32,address,bytes32,uint256,uint256[])", {
    topics: [condition.id, condition.oracle, condition.questionId],
    data: [numerators.length, numerators],
  });
  tx.state.resolved.add(condition.id);
  tx.resolve(condition.tokens, numerators);
}

export function prepareCondition(tx: ModelTransaction, condition: ModelCondition): void {
  tx.emit(ctf, "ConditionPreparation(bytes32,address,bytes32,uint256)", {
    topics: [condition.id, condition.oracle, condition.questionId],
    data: [condition.kind === "other" ? 3 : 2],
  });
  tx.state.prepared.add(condition.id);
}

/** The next question of a neg-risk event, with the event if it is the first. */
export function prepareQuestion(
  tx: ModelTransaction,
  { id, feeBips, conditions }: ModelEvent,
): void {
  const index = tx.state.questions.get(id) ?? 0;
  const condition = conditions[index];
  if (condition === undefined) return;
  if (index === 0) {
    const topics = [id, condition.oracle];
    tx.emit(negRiskAdapter, "MarketPrepared(bytes32,address,uint256,bytes)", {
      topics,
      data: [feeBips, []],
    });
  }
  prepareCondition(tx, condition);
  tx.emit(negRiskAdapter, "QuestionPrepared(bytes32,bytes32,uint256,bytes)", {
    topics: [id, condition.questionId],
    data: [index, []],
  });
  tx.state.questions.set(id, index + 1);
}

function isOwnCollateral({ collateral }: ModelCondition): boolean {
  return collateral === contracts.collateral;
}

function toBasis(account: Address, { condition, amount, made }: Change) {
  const parent = made?.nature === "nested" ? parentCollection : zeroHash;
  return {
    topics: [account, parent, condition.id],
    data: [condition.collateral, made?.sets ?? pairSets, amount],
  };
}
