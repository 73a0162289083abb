import type { TokenId } from "../base/ids.ts";
import { type PriceRow, type PriceSources, presentPrice } from "../rows/price-row.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";

/** The prices of tokens at the newest block, from the views alone; `null` for tokens never seen. */
export function readPrices(
  sources: PriceSources & { readonly store: IndexedFacts },
  tokenIds: readonly TokenId[],
): readonly (PriceRow | null)[] {
  return tokenIds.map((tokenId) => {
    sources.store.reads.add("price", "views");
    return presentPrice(tokenId, sources);
  });
}
