/** Operations on positions of generations 1 and 2. One that needs what nobody has does nothing. */
import type { Address, TokenId } from "../../../src/base/ids.ts";
import * as legacy from "./contracts/legacy-contracts.ts";
import type { ModelCondition } from "./model-markets.ts";
import * as markets from "./model-markets.ts";
import { anyAmount, anyPart, legacyMarkets, smallest, type Turn } from "./turn.ts";

/** Where a wallet splits and merges a condition. */
function anyAdapter({ random }: Turn, { kind }: ModelCondition): Address {
  if (kind === "neg_risk")
    return random.pick([markets.negRiskAdapter, ...markets.collateralAdapters.neg_risk]);
  return random.pick([markets.ctf, ...markets.collateralAdapters.standard]);
}

export function splitLegacy(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const known = legacyMarkets(turn);
  if (known.length === 0) return;
  const condition = random.pick(known);
  const change = { condition, amount: random.chance(0.05) ? 0n : anyAmount(random) };
  const via = anyAdapter(turn, condition);
  if (via === markets.ctf) legacy.changeAtCtf(tx, { wallet, kind: "split" }, change);
  else legacy.changeByAdapter(tx, { wallet, via, kind: "split" }, change);
}

export function mergeLegacy(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const held = legacyMarkets(turn).filter(({ tokens }) => smallest(turn, tokens) > 0n);
  if (held.length === 0) return;
  const condition = random.pick(held);
  const change = { condition, amount: anyPart(random, smallest(turn, condition.tokens)) };
  const via = anyAdapter(turn, condition);
  if (via === markets.ctf) legacy.changeAtCtf(tx, { wallet, kind: "merge" }, change);
  else legacy.changeByAdapter(tx, { wallet, via, kind: "merge" }, change);
}

const fullSet: legacy.Made = { nature: "full", from: null, sets: [1n, 2n, 4n] };

/** Positions that are not of a market: three outcomes, two of three, foreign collateral, under another position. */
export function changeOther(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const { threeOutcomes, subsetToken, foreignPositions, nestedPositions, standard } = markets;
  if (!tx.state.prepared.has(threeOutcomes.id) || !tx.state.prepared.has(foreignPositions.id))
    return;
  const parent = standard[1]?.tokens[0] ?? null;
  const [condition, made] = random.pick<readonly [ModelCondition, legacy.Made]>([
    [threeOutcomes, fullSet],
    [threeOutcomes, { nature: "subset", from: subsetToken, sets: [1n, 2n] }],
    [foreignPositions, { nature: "foreign", from: null, sets: [1n, 2n] }],
    [nestedPositions, { nature: "nested", from: parent, sets: [1n, 2n] }],
  ]);
  const own = smallest(turn, condition.tokens.slice(0, made.sets.length));
  const isResolved = tx.state.payouts.has(condition.tokens[0] as TokenId);
  if (own > 0n && isResolved && made.nature !== "subset" && random.chance(0.5)) {
    return legacy.redeemOwn(tx, wallet, { condition, sets: made.sets, made });
  }
  if (own > 0n && random.chance(0.4)) {
    return legacy.changeAtCtf(
      tx,
      { wallet, kind: "merge" },
      { condition, amount: anyPart(random, own), made },
    );
  }
  const available = made.from === null ? null : tx.balance(wallet, made.from);
  if (available === 0n) {
    // Without the other position, a wallet makes those that it can merge later.
    const full = { condition: threeOutcomes, amount: anyAmount(random), made: fullSet };
    return legacy.changeAtCtf(tx, { wallet, kind: "split" }, full);
  }
  const huge = made.nature === "foreign" && random.chance(0.2) ? 10n ** 60n : anyAmount(random);
  const amount = available === null ? huge : anyPart(random, available);
  legacy.changeAtCtf(tx, { wallet, kind: "split" }, { condition, amount, made });
}

export function convertLegacy(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const event = random.pick(markets.events);
  const count = tx.state.questions.get(event.id) ?? 0;
  if (count < 2) return;
  const held = event.conditions.slice(0, count).flatMap(({ tokens }, index) => {
    return tx.balance(wallet, tokens[1] as TokenId) > 0n ? [index] : [];
  });
  const chosen = held.filter(() => random.chance(0.7));
  if (chosen.length === 0) return;
  const tokens = chosen.map((index) => event.conditions[index]?.tokens[1] as TokenId);
  const set = chosen.reduce((bits, index) => bits | (1 << index), 0);
  const via = random.pick([markets.negRiskAdapter, ...markets.collateralAdapters.neg_risk]);
  legacy.convert(
    tx,
    { wallet, via },
    { event, set, amount: anyPart(random, smallest(turn, tokens)) },
  );
}

export function redeemLegacy(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const resolved = legacyMarkets(turn).filter(({ id }) => tx.state.resolved.has(id));
  if (resolved.length === 0) return;
  const condition = random.pick(resolved);
  const isNegRisk = condition.kind === "neg_risk";
  const via = random.pick([anyAdapter(turn, condition), markets.autoRedeemer]);
  if (via === markets.ctf) {
    const sets = random.pick([[1n, 2n], [1n], [2n]]);
    return legacy.redeemOwn(tx, wallet, { condition, sets });
  }
  const all = condition.tokens.map((tokenId) => tx.balance(wallet, tokenId));
  const hasNothing = all.every((amount) => amount === 0n);
  if (via === markets.autoRedeemer && hasNothing) {
    // Of an approved wallet that has nothing: an event without a transfer.
    const name = isNegRisk ? "NegRiskRedemption" : "BinaryRedemption";
    return tx.emit(via, `${name}(address,bytes32,uint256)`, {
      topics: [wallet, condition.id],
      data: [0n],
    });
  }
  const amounts =
    via === markets.negRiskAdapter ? all.map((amount) => anyPart(random, amount)) : all;
  legacy.redeemFor(tx, { wallet, via }, { condition, amounts });
}
