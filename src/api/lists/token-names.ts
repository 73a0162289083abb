import type { FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { parseConditionId, type TokenId } from "../../base/ids.ts";
import { isTokenName } from "../../base/input/client-texts.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { truncate } from "../../base/near-name.ts";
import type { Market } from "../../market/market.ts";
import { readMarket } from "../../query/markets/read-markets.ts";
import { type Backend, untilChange } from "../backend.ts";
import type { Route } from "../route/route.ts";

const parameters = ["token_id", "token_ids"] as const;
type Values = Record<string, TokenId | readonly TokenId[] | undefined>;

/** Lets a route take tokens by market and outcome: what follows reads token ids only. */
export function withTokenNames(route: Route, backend: Backend): Route {
  const { whenReady, getCachePolicy, handler } = route;
  const resolve = (request: FastifyRequest): void => {
    resolveAll(request.params as Values, (name) => {
      const tokenId = findToken(backend, name);
      if (tokenId !== null) return tokenId;
      throw new AppError("NOT_FOUND", `No market is named ${truncate(getMarket(name))}`);
    });
    resolveAll(request.query as Values, (name, parameter) => {
      const tokenId = findToken(backend, name);
      if (tokenId !== null) return tokenId;
      throw invalid(parameter, `names no market: ${truncate(getMarket(name))}`);
    });
  };
  return {
    ...route,
    ...(whenReady && {
      whenReady: (request) => {
        // A name that is not known yet is resolved after the wait.
        for (const values of [request.params, request.query])
          resolveAll(values as Values, (name) => findToken(backend, name) ?? name);
        return whenReady(request);
      },
    }),
    ...(getCachePolicy && {
      // The market of a name can change with any change of the state.
      getCachePolicy: (request) => {
        const [path = ""] = (request.raw.url ?? "").split("?");
        resolve(request);
        return /:|%3a/i.test(path) ? untilChange(backend) : getCachePolicy(request);
      },
    }),
    handler: (request, reply) => {
      resolve(request);
      return handler(request, reply);
    },
  };
}

/** Replaces the names among the values of a request. */
function resolveAll(values: Values, toId: (name: TokenId, parameter: string) => TokenId): void {
  for (const parameter of parameters) {
    const value = values[parameter];
    if (typeof value === "string") {
      if (isTokenName(value)) values[parameter] = toId(value, parameter);
    } else if (value?.some(isTokenName)) {
      values[parameter] = value.map((id) => (isTokenName(id) ? toId(id, parameter) : id));
    }
  }
}

/** Finds the token of `<slug>:<outcome>` or `<condition_id>:<outcome>`; `null` without such a market. */
function findToken(backend: Backend, name: TokenId): TokenId | null {
  const id = getMarket(name);
  const market = readMarket(backend, id);
  if (market === null) return null;
  const { mirror, tokens } = market;
  const isMirror = mirror !== null && parseConditionId(id) === mirror.conditionId;
  const own = isMirror ? mirror.tokens : tokens;
  const outcome = name.slice(id.length + 1).toLowerCase();
  const isMeant = (token: Market["tokens"][number]) => token.outcome?.toLowerCase() === outcome;
  const token = own.find(isMeant) ?? own.find((_, index) => String(index) === outcome);
  if (token !== undefined) return token.tokenId;
  const outcomes = own.map((one, index) => one.outcome ?? index).join(", ");
  throw invalid("token_id", `has an outcome that ${truncate(id)} has not: it has ${outcomes}`);
}

function getMarket(name: string): string {
  return name.slice(0, name.lastIndexOf(":"));
}
