import type { FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import type { TokenId } from "../../base/ids.ts";
import { isTokenName } from "../../base/input/client-texts.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { truncate } from "../../base/near-name.ts";
import { getMarketName, readNamedToken } from "../../query/markets/read-markets.ts";
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
      throw new AppError("NOT_FOUND", `No market is named ${truncate(getMarketName(name))}`);
    });
    resolveAll(request.query as Values, (name, parameter) => {
      const tokenId = findToken(backend, name);
      if (tokenId !== null) return tokenId;
      throw invalid(parameter, `names no market: ${truncate(getMarketName(name))}`);
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

function findToken(backend: Backend, name: TokenId): TokenId | null {
  return readNamedToken(backend, name, "token_id")?.token.tokenId ?? null;
}
