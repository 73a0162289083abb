import { Type } from "typebox";
import { requireMarket } from "../../../../query/markets/read-markets.ts";
import {
  getTotalInterest,
  readOpenInterest,
} from "../../../../query/wallets/read-open-interest.ts";
import {
  openInterestRow,
  toOpenInterestRow,
  toTotalInterestRow,
  totalInterestRow,
} from "../../../../rows/wallets/open-interest-row.ts";
import { untilChange } from "../../../backend.ts";
import { bucketParameters, bucketSource } from "../../../lists/bucket-parameters.ts";
import { type ListParts, listRoute } from "../../../lists/row-list.ts";
import type { Route } from "../../../route/route.ts";

const resolutionSeconds = { "1h": 3600, "4h": 14_400, "1d": 86_400 } as const;
const pageRows = 500;

const querystring = bucketParameters(resolutionSeconds, pageRows);

/** Lists the open interest of a market over time. */
export function listOpenInterest(parts: ListParts): Route {
  const { facts, state } = parts;
  return listRoute(parts, {
    needsWallets: true,
    path: "/v1/markets/{id}/open-interest",
    summary: "List open interest",
    description:
      "Supply, open interest and collateral at the end of each bucket, from the first mint on. Without start and end, the newest",
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
    querystring,
    pageRows,
    row: openInterestRow,
    toRow: toOpenInterestRow,
    getCachePolicy: () => untilChange(parts),
    open: ({ params, query, path }) => {
      const market = requireMarket(parts, params.id);
      return bucketSource(parts, {
        path,
        query,
        bucketSeconds: resolutionSeconds[query.resolution],
        read: (page) => readOpenInterest({ facts, directory: state.directory }, market, page),
      });
    },
  });
}

/** Lists the collateral behind all positions over time. */
export function listTotalOpenInterest(parts: ListParts): Route {
  const { facts, state } = parts;
  return listRoute(parts, {
    needsWallets: true,
    path: "/v1/open-interest",
    summary: "List total open interest",
    description:
      "The collateral behind all positions at the end of each bucket, from the first split on. Without start and end, the newest",
    querystring,
    pageRows,
    row: totalInterestRow,
    toRow: toTotalInterestRow,
    getCachePolicy: () => untilChange(parts),
    open: ({ query, path }) =>
      bucketSource(parts, {
        path,
        query,
        bucketSeconds: resolutionSeconds[query.resolution],
        read: async (page) => getTotalInterest({ facts, directory: state.directory }, page),
      }),
  });
}
