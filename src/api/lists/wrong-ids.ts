import type { FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { type ConditionId, parseAddress, type TokenId } from "../../base/ids.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { describeId } from "../../query/markets/describe-id.ts";
import type { MarketDirectory } from "../../views/markets/market-directory.ts";
import { marketsOfEvent } from "../../views/venue-events/event-list.ts";
import type { Backend } from "../backend.ts";
import type { Route } from "../route/route.ts";

type IsOfKind = (directory: MarketDirectory, id: string) => boolean;
const isToken: IsOfKind = (directory, id) => directory.isKnownToken(id as TokenId);
const isNever: IsOfKind = () => false;

/** Filters by ids of one form, and whether an id is known to be of the kind of the filter. */
const filters: Readonly<Record<string, IsOfKind>> = {
  token_id: isToken,
  token_ids: isToken,
  condition_id: (directory, id) => directory.market(id as ConditionId) !== null,
  neg_risk_market_id: (directory, id) => marketsOfEvent(directory, id).length > 0,
  event_id: (directory, id) =>
    marketsOfEvent(directory, id).length > 0 || directory.columns.withLabel("event", id).length > 0,
  slug: (directory, id) => directory.bySlug(id).length > 0,
  // Neither is known without a read of the store, and neither can be the id of something else.
  tx_hash: isNever,
  builder: isNever,
};

/** Lets a route say what an id is that it does not find because the id is of another kind. */
export function withWrongIds(route: Route, { state: { directory } }: Backend): Route {
  return {
    ...route,
    handler: async (request, reply) => {
      checkFilters(request.query as Record<string, unknown>, directory);
      try {
        return await route.handler(request, reply);
      } catch (thrown) {
        throw explain(thrown, request, directory);
      }
    },
  };
}

/** Throws `VALIDATION_ERROR` for a filter by an id of another kind, which would find nothing. */
function checkFilters(query: Record<string, unknown>, directory: MarketDirectory): void {
  for (const [name, isOfKind] of Object.entries(filters)) {
    const given = query[name];
    const ids = typeof given === "string" ? [given] : Array.isArray(given) ? given : [];
    for (const id of ids as readonly string[]) {
      const kind = isOfKind(directory, id) ? null : describeId(directory, id);
      if (kind !== null) throw invalid(name, `is ${kind}`);
    }
  }
}

/** Adds to a `NOT_FOUND` what the id in the path is. */
function explain(thrown: unknown, { params }: FastifyRequest, directory: MarketDirectory): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== "NOT_FOUND") return thrown;
  const [[name, id] = ["", ""]] = Object.entries(params as Record<string, string>);
  // What is named `id` is of a market or an event, and can have any form.
  const isAddress = name === "id" && parseAddress(id) !== null;
  const isRight = (filters[name] ?? isNever)(directory, id);
  const kind = isRight ? null : (describeId(directory, id) ?? (isAddress ? "an address" : null));
  return kind === null ? thrown : new AppError("NOT_FOUND", `${thrown.message}; this is ${kind}`);
}
