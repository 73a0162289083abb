/** Compares what the venue says with what the chain proves: where it is wrong, and where it adds labels. */

import type { Hash, TokenId } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { deriveConditionId, deriveTokenIds } from "../../market/ids/condition-ids.ts";
import { deriveGen3TokenIds, parseGen3TokenId } from "../../market/ids/gen3-ids.ts";
import { type Market, winningOutcomeIndex } from "../../market/market.ts";
import type { MetadataMarket, VenueClaims } from "../../venue/metadata/parse-market.ts";
import type { Condition } from "./conditions.ts";

/** A property of a market for which the venue contradicts the chain. */
export type Contradiction = "tokens" | "outcomes" | "resolution" | "neg_risk" | "question_id";

type AdoptedAs = NonNullable<MetadataMarket["adoptedAs"]>;

/** What the id of a condition that the venue claims proves of it. */
export type ProvenCondition = Pick<Condition, "questionId" | "oracle" | "gen3" | "tokenIds"> & {
  readonly adoptedAs: AdoptedAs;
};

/**
 * Returns the forms that a claimed condition can have, one for each kind of token. Token ids follow from a condition's
 * id, so a traded token among them proves the claim.
 */
export function getDerivations(
  { conditionId, claims }: Pick<MetadataMarket, "conditionId" | "claims">,
  contracts: Contracts,
): readonly ProvenCondition[] {
  const gen3 = parseGen3TokenId(conditionId as string as TokenId);
  if (gen3?.conditionId === conditionId) {
    const adoptedAs = gen3.module === "neg_risk" ? "neg_risk" : "standard";
    const tokenIds = deriveGen3TokenIds(conditionId);
    return [{ adoptedAs, tokenIds, gen3, questionId: null, oracle: null }];
  }
  const asker = [...contracts.byAddress.values()].find(({ address: oracle }) => {
    const questionId = claims.questionId as Hash | null;
    if (questionId === null) return false;
    return deriveConditionId({ oracle, questionId, outcomeSlotCount: 2 }) === conditionId;
  });
  const oracle = asker?.address ?? null;
  const questionId = oracle === null ? null : (claims.questionId as Hash);
  const kinds: readonly AdoptedAs[] = claims.negRisk
    ? ["neg_risk", "standard"]
    : ["standard", "neg_risk"];
  return kinds.map((adoptedAs) => {
    const { wrappedCollateral, collateral } = contracts;
    const backing = adoptedAs === "neg_risk" ? wrappedCollateral : collateral;
    return {
      adoptedAs,
      tokenIds: deriveTokenIds(conditionId, backing),
      gen3: null,
      questionId,
      oracle,
    };
  });
}

/** Returns where the venue contradicts the chain. A property that one of them does not state is no contradiction. */
export function findContradictions(market: Market, claims: VenueClaims): Contradiction[] {
  const { questionId, negRisk } = claims;
  const found: Contradiction[] = [];
  if (claims.tokenIds !== null && market.tokens.length > 0 && getOrder(market, claims) === null) {
    found.push("tokens");
  }
  if (areOutcomesOther(market, claims)) found.push("outcomes");
  if (isWinnerOther(market, claims)) found.push("resolution");
  if (negRisk !== null && negRisk !== market.negRisk) found.push("neg_risk");
  if (questionId !== null && market.questionId !== null && questionId !== market.questionId) {
    found.push("question_id");
  }
  return found;
}

/** The venue's labels in the order of the chain's tokens; `null` when they are not labels of these tokens. */
export function toLabels(market: Market, claims: VenueClaims): readonly string[] | null {
  const { outcomes } = claims;
  const order = getOrder(market, claims);
  if (order === null || outcomes?.length !== order.length) return null;
  return order.flatMap((index) => outcomes[index] ?? []);
}

/** The venue's index of each of the chain's tokens; `null` when the venue has other tokens, or none. */
function getOrder({ tokens }: Market, { tokenIds }: VenueClaims): readonly number[] | null {
  if (tokenIds === null || tokens.length === 0 || tokenIds.length !== tokens.length) return null;
  const order = tokens.map(({ tokenId }) => tokenIds.indexOf(tokenId));
  return order.includes(-1) ? null : order;
}

function areOutcomesOther(market: Market, claims: VenueClaims): boolean {
  const labels = toLabels(market, claims);
  if (labels === null) return false;
  return market.tokens.some(
    ({ outcome }, index) => outcome !== null && toPlain(outcome) !== toPlain(labels[index] ?? ""),
  );
}

function isWinnerOther(market: Market, claims: VenueClaims): boolean {
  const order = getOrder(market, claims);
  if (order === null || claims.winnerIndex === null || market.resolution === null) return false;
  const winner = winningOutcomeIndex(market.resolution);
  return winner === null || order[winner] !== claims.winnerIndex;
}

function toPlain(label: string): string {
  return label.trim().toLowerCase();
}
