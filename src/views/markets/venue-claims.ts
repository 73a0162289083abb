/** Compares what the venue says with what the chain proves: where it is wrong, and where it adds labels. */

import { type Market, winningOutcomeIndex } from "../../market/market.ts";
import type { VenueClaims } from "../../venue/metadata/parse-market.ts";

/** A property of a market for which the venue contradicts the chain. */
export type Contradiction = "tokens" | "outcomes" | "resolution" | "neg_risk" | "question_id";

/** Returns where the venue contradicts the chain. A property that one of them does not state is no contradiction. */
export function contradictionsOf(market: Market, claims: VenueClaims): Contradiction[] {
  const { questionId, negRisk } = claims;
  const found: Contradiction[] = [];
  if (claims.tokenIds !== null && market.tokens.length > 0 && orderOf(market, claims) === null) {
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
export function labelsOf(market: Market, claims: VenueClaims): readonly string[] | null {
  const { outcomes } = claims;
  const order = orderOf(market, claims);
  if (order === null || outcomes?.length !== order.length) return null;
  return order.flatMap((index) => outcomes[index] ?? []);
}

/** The venue's index of each of the chain's tokens; `null` when the venue has other tokens, or none. */
function orderOf({ tokens }: Market, { tokenIds }: VenueClaims): readonly number[] | null {
  if (tokenIds === null || tokens.length === 0 || tokenIds.length !== tokens.length) return null;
  const order = tokens.map(({ tokenId }) => tokenIds.indexOf(tokenId));
  return order.includes(-1) ? null : order;
}

function areOutcomesOther(market: Market, claims: VenueClaims): boolean {
  const labels = labelsOf(market, claims);
  if (labels === null) return false;
  return market.tokens.some(
    ({ outcome }, index) => outcome !== null && plainOf(outcome) !== plainOf(labels[index] ?? ""),
  );
}

function isWinnerOther(market: Market, claims: VenueClaims): boolean {
  const order = orderOf(market, claims);
  if (order === null || claims.winnerIndex === null || market.resolution === null) return false;
  const winner = winningOutcomeIndex(market.resolution);
  return winner === null || order[winner] !== claims.winnerIndex;
}

function plainOf(label: string): string {
  return label.trim().toLowerCase();
}
