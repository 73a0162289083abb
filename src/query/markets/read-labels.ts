import { mapYielding } from "../../base/time/turns.ts";
import type { TagFacts } from "../../rows/tag-row.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketState } from "../../views/markets/market-state.ts";

/** Reads all tags or categories that listed markets have, the most traded first. Yields to the event loop. */
export async function readLabels(
  { facts, state: { directory } }: { readonly facts: IndexedFacts; readonly state: MarketState },
  kind: "tag" | "category",
): Promise<readonly TagFacts[]> {
  facts.reads.add("labels", "views");
  const { columns } = directory;
  const counted = await mapYielding(columns.getLabels(kind), ([label, text]) => {
    const count = columns.countLabel(label);
    if (count.markets === 0) return null;
    const venue = directory.market(columns.conditionIdAt(count.ordinal))?.venue ?? null;
    const names = kind === "tag" ? (venue?.tags ?? []) : [venue?.category ?? ""];
    return { ...count, name: names.find((name) => name.toLowerCase() === text) ?? text };
  });
  return counted
    .filter((one) => one !== null)
    .toSorted(
      (a, b) =>
        b.dayVolumeUsd - a.dayVolumeUsd ||
        b.openMarkets - a.openMarkets ||
        b.markets - a.markets ||
        (a.name < b.name ? -1 : 1),
    );
}
