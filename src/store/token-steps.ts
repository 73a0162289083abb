/** In which steps the rows of a token are looked for, so that parts with older ones are left alone. */
import type { Span, Times } from "./part-map.ts";

/** How many trades a token has, and when. */
export type Life = Times & { readonly trades: number };

type Search = {
  readonly span: Span;
  /** `null` when it is not known. */
  readonly life: Life | null;
  readonly order: "asc" | "desc";
  readonly limit: number;
};

/** Rows are not spread evenly: so many times as are asked for should be there to look there alone. */
const expectedTimes = 2;

/**
 * The whole span; or its end in as many of the large parts as should have enough, and then the rest in
 * case they do not. `parts` may hold rows, and stand in the order of the chain.
 */
export function stepsOf(
  parts: readonly (Span & Times)[],
  { span, life, order, limit }: Search,
): readonly Span[] {
  if (life === null) return [span];
  const nearest = order === "desc" ? parts.toReversed() : parts;
  let expected = 0;
  for (const part of nearest.slice(0, -1)) {
    expected += expectedIn(part, span, life);
    if (expected >= expectedTimes * limit) return cutAt(part, span, order);
  }
  return [span];
}

function cutAt(part: Span, span: Span, order: "asc" | "desc"): readonly Span[] {
  if (order === "asc")
    return [
      { ...span, to: part.to },
      { ...span, from: part.to },
    ];
  return [
    { ...span, from: part.from },
    { ...span, to: part.from },
  ];
}

/** How many trades a part has of a token within a span, were they spread evenly. */
function expectedIn(part: Span & Times, span: Span, life: Life): number {
  const common = Math.min(part.to, span.to) - Math.max(part.from, span.from);
  const shareOfPart = common / (part.to - part.from);
  const seconds =
    Math.min(part.lastTimestamp, life.lastTimestamp) -
    Math.max(part.firstTimestamp, life.firstTimestamp);
  const shareOfLife = (seconds + 1) / (life.lastTimestamp - life.firstTimestamp + 1);
  return life.trades * shareOfLife * shareOfPart;
}
