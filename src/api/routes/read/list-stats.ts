import { Type } from "typebox";
import { hash } from "../../../base/input/client-texts.ts";
import { invalid } from "../../../base/input/compile-reader.ts";
import { nearName, truncate } from "../../../base/near-name.ts";
import type { BucketPage } from "../../../query/bucket-page.ts";
import { readStats } from "../../../query/read-stats.ts";
import { statsRow, toStatsRow } from "../../../rows/stats-row.ts";
import type { MarketColumns } from "../../../views/markets/market-columns.ts";
import { type StatsScope, statsSeconds } from "../../../views/stats/platform-totals.ts";
import { untilChange } from "../../backend.ts";
import { bucketParameters, bucketSource } from "../../lists/bucket-parameters.ts";
import { names } from "../../lists/fill-parameters.ts";
import { type ListParts, listRoute } from "../../lists/row-list.ts";
import type { Route } from "../../route/route.ts";

const pageRows = 500;

const querystring = Type.Object({
  ...bucketParameters(statsSeconds, pageRows).properties,
  exchange_version: Type.Optional(Type.Integer({ minimum: 1, maximum: 3 })),
  category: Type.Optional(names),
  builder: Type.Optional(hash),
});

/** Lists the totals of the platform over time. */
export function listStats(parts: ListParts): Route {
  return listRoute(parts, {
    path: "/v1/stats",
    summary: "List totals of the platform",
    description:
      "Trades, volume, fees, markets and traders of each hour or day, of all markets, of one generation, of a builder code, or of categories. Without start and end, the newest",
    querystring,
    pageRows,
    row: statsRow,
    toRow: toStatsRow,
    getCachePolicy: () => untilChange(parts),
    open: ({ query, path }, reply) => {
      const { category: categories, exchange_version: generation, builder } = query;
      const scopes = Object.entries({
        category: categories,
        exchange_version: generation,
        builder,
      });
      const [given, another] = scopes.flatMap(([name, value]) => (value === undefined ? [] : name));
      if (given !== undefined && another !== undefined) {
        throw invalid(another, `cannot be combined with ${given}`);
      }
      checkCategories(parts.state.directory.columns, categories ?? []);
      const scope = builder ?? ((generation ?? 0) as StatsScope);
      const bucketSeconds = statsSeconds[query.resolution];
      const readTotals = async (page: BucketPage) =>
        readStats(parts, { ...page, scope, categories });
      // Those of categories add up the candles of their markets; the others are in memory.
      const read =
        categories === undefined
          ? readTotals
          : async (page: BucketPage) => parts.heavyReads.run(reply, async () => readTotals(page));
      return bucketSource(parts, { path, query, bucketSeconds, read });
    },
  });
}

/** Refuses a category that no market has: totals of 0 would be a statement about it. Throws `VALIDATION_ERROR`. */
function checkCategories(columns: MarketColumns, categories: readonly string[]): void {
  if (categories.length === 0) return;
  const existing = new Set(columns.getListedLabels("category"));
  const unknown = categories.find((name) => !existing.has(name.toLowerCase()));
  if (unknown === undefined) return;
  const suggestion = nearName(unknown, existing);
  const meant = suggestion === null ? "" : `; did you mean ${suggestion}?`;
  throw invalid("category", `names no category: ${truncate(unknown)}${meant}`);
}
