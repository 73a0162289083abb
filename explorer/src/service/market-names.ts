/** Names of markets for lists that only have their condition ids, read in batches and remembered. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ConditionId, Market } from "../../../client/src/api.ts";
import { client } from "./session.ts";

const batchMax = 100;
const rememberedMax = 5000;
const gatherMs = 30;

const known = signal<ReadonlyMap<ConditionId, Market>>(new Map());
const wanted = new Set<ConditionId>();
let isReading = false;

/** The markets of these conditions as far as they are known; the others are read. */
export function useMarkets(ids: readonly (ConditionId | null)[]): ReadonlyMap<ConditionId, Market> {
  const missing = [...new Set(ids)].filter((id) => id !== null && !known.value.has(id));
  const name = missing.join();
  useEffect(() => {
    for (const id of missing) if (id !== null) wanted.add(id);
    if (wanted.size > 0) void readWanted();
  }, [name]);
  return known.value;
}

/** Markets that a page has read anyway. */
export function learnMarkets(markets: readonly Market[]): void {
  if (markets.every((market) => known.value.has(market.id))) return;
  const all = [...known.value, ...markets.map((market) => [market.id, market] as const)];
  known.value = new Map(all.slice(-rememberedMax));
}

async function readWanted(): Promise<void> {
  if (isReading) return;
  isReading = true;
  await new Promise((resolve) => setTimeout(resolve, gatherMs));
  try {
    while (wanted.size > 0) {
      const ids = [...wanted].slice(0, batchMax);
      for (const id of ids) wanted.delete(id);
      const query = { condition_id: ids, status: "all", limit: batchMax } as const;
      learnMarkets((await client.value.markets(query).page()).data);
    }
  } catch {
    // Rows show the ids; the next row that wants a name asks again.
  } finally {
    isReading = false;
  }
}
