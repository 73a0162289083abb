import { type Static, type TObject, Type } from "typebox";
import { amount, namedToken } from "../../../base/input/client-texts.ts";
import type { Fill } from "../../../market/fill.ts";
import { invertFill } from "../../../market/invert.ts";
import type { FillFilter } from "../../../query/fill-filter.ts";
import { joinTokens, unknownToken } from "../../../query/markets/read-markets.ts";
import { storedFills, storedTrades } from "../../../query/read-fills.ts";
import { type RowContext, tradeRow } from "../../../rows/trade-row.ts";
import { tradeWriter } from "../../../rows/trade-writer.ts";
import { untilChange, untilTradesChange } from "../../backend.ts";
import { checkBounds } from "../../http/parameters.ts";
import {
  fillParameters,
  toFillFilter,
  toFillPage,
  tokenParameters,
} from "../../lists/fill-parameters.ts";
import { type ListParts, listRoute, type RowSource, storedSource } from "../../lists/row-list.ts";
import { valueSource } from "../../lists/value-order.ts";
import type { Route } from "../../route/route.ts";

const tradeParameters = {
  ...fillParameters,
  match_type: Type.Optional(Type.Enum(["complementary", "mint", "merge", "direct"])),
  min_price: Type.Optional(amount),
  max_price: Type.Optional(amount),
  sort: Type.Enum(["time", "value"], { default: "time" }),
};
type TradeParameters = Static<TObject<typeof tradeParameters>>;
const allTokensParameters = Type.Object({ ...tradeParameters, ...tokenParameters });
const oneTokenParameters = Type.Object({
  ...tradeParameters,
  include_complement: Type.Boolean({ default: false }),
  include_mirror: Type.Boolean({ default: false }),
});

const roles = ["maker", "direct"] as const;
const shape = { row: tradeRow, writer: tradeWriter, getToken: ({ tokenId: id }: Fill) => id };

/** Lists trades of all tokens, or of some. */
export function listTrades(parts: ListParts): Route {
  return listRoute(parts, {
    ...shape,
    path: "/v1/trades",
    summary: "List trades",
    description: "Trades of all tokens, newest first. Volume is counted once",
    querystring: allTokensParameters,
    getCachePolicy: () => untilChange(parts),
    open: ({ query, path }) => {
      const filter = { ...toFillFilter(query, parts), ...tradeFilter(query) };
      return tradeSource(parts, filter, { path, query });
    },
  });
}

/** Lists trades of one token, or of its pair with trades of the complement inverted, on one ledger or both. */
export function listTokenTrades(parts: ListParts): Route {
  return listRoute(parts, {
    ...shape,
    path: "/v1/trades/market/{token_id}",
    summary: "List trades of a token",
    description:
      "Trades of one token, newest first; optionally with inverted trades of its complement",
    params: Type.Object({ token_id: namedToken }),
    querystring: oneTokenParameters,
    getCachePolicy: ({ params, query }) => {
      // The window of a list by value moves with the time of the chain.
      if (query.sort === "value") return untilChange(parts);
      const namesMarkets = query.include !== undefined;
      return untilTradesChange(parts, { tokenId: params.token_id, namesMarkets });
    },
    open: ({ params, query, path }) => {
      const requested = params.token_id;
      const { directory } = parts.state;
      if (!directory.isKnownToken(requested)) throw unknownToken();
      const { same, inverted } = joinTokens(directory, requested, {
        complement: query.include_complement,
        mirror: query.include_mirror,
      });
      const filter = {
        ...toFillFilter({ ...query, token_id: [...same, ...inverted] }, parts),
        ...tradeFilter(query),
        invertedTokenIds: inverted,
      };
      const sent = (fill: Fill): Fill =>
        inverted.includes(fill.tokenId)
          ? invertFill(fill, directory.getComplement(fill.tokenId) ?? requested)
          : fill;
      return {
        ...tradeSource(parts, filter, { path, query }),
        writer: (context: RowContext) => {
          const write = tradeWriter(context);
          return (fill: Fill) => write(sent(fill));
        },
      };
    },
  });
}

/** Returns the part of the filter that only lists of trades have. Throws `VALIDATION_ERROR` for contradictory bounds. */
function tradeFilter(query: TradeParameters): FillFilter {
  checkBounds(query, ["min_price", "max_price"]);
  const { match_type: matchType, min_price: priceMin, max_price: priceMax } = query;
  return { matchType, priceMin, priceMax, roles };
}

function tradeSource(
  parts: ListParts,
  filter: FillFilter,
  context: { readonly path: string; readonly query: TradeParameters },
): RowSource<Fill> {
  if (context.query.sort === "value") return valueSource(parts, filter, context);
  const { facts, state } = parts;
  const page = toFillPage(parts, filter, context);
  // Inverted trades are presented as trades of the other token.
  const list = filter.invertedTokenIds?.length
    ? storedFills(page)
    : storedTrades(page, (tokenId) => state.directory.getToken(tokenId));
  return storedSource(facts, list);
}
