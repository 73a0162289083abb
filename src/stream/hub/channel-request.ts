import { formatMicros } from "../../base/decimal.ts";
import { formatTokenId, type TokenId } from "../../base/ids.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { formatConditionId } from "../../rows/wire-format.ts";
import type { ChannelRequest, Filter } from "../frames/frame-fields.ts";

type RequestField = "token_id" | "token_ids" | "resolution";

/** What a type of channel takes; anything else in a request is refused, not ignored. */
export type Accepted = {
  readonly fields: readonly RequestField[];
  readonly filters: readonly (keyof Filter)[];
};

/** Throws `VALIDATION_ERROR` when a request has what its type of channel does not take. */
export function checkRequest(request: ChannelRequest, { fields, filters }: Accepted): void {
  for (const name of ["token_id", "token_ids", "resolution"] as const) {
    if (request[name] !== undefined && !fields.includes(name)) throw notTaken(name, request);
  }
  for (const name of Object.keys(request.filter ?? {}) as (keyof Filter)[]) {
    if (!filters.includes(name)) throw notTaken(`filter.${name}`, request);
  }
}

/** The tokens of a request, each once; at least one. */
export function requestedTokens({ token_id, token_ids }: ChannelRequest): readonly TokenId[] {
  if (token_id !== undefined && token_ids !== undefined) {
    throw invalid("channel.token_ids", "cannot be given together with token_id");
  }
  const tokenIds = token_ids ?? (token_id === undefined ? [] : [token_id]);
  if (tokenIds.length === 0) throw invalid("channel.token_id", "or token_ids is required");
  return [...new Set(tokenIds)].toSorted();
}

/** Tokens as a request would name them. */
export function shownTokens(tokenIds: readonly TokenId[]): Readonly<Record<string, unknown>> {
  const [only] = tokenIds;
  return tokenIds.length === 1 && only !== undefined
    ? { token_id: formatTokenId(only) }
    : { token_ids: tokenIds.map(formatTokenId) };
}

/** A filter as a request would name it, in one order; nothing when it lets everything pass. */
export function shownFilter({ filter = {} }: ChannelRequest): Readonly<Record<string, unknown>> {
  const { side, min_value, wallet, condition_id, finality } = filter;
  const shown = {
    side,
    min_value: min_value === undefined ? undefined : formatMicros(min_value),
    wallet,
    condition_id: condition_id && formatConditionId(condition_id),
    finality: finality === "finalized" ? finality : undefined,
  };
  return Object.values(shown).every((value) => value === undefined) ? {} : { filter: shown };
}

function notTaken(name: string, { type }: ChannelRequest): Error {
  return invalid(`channel.${name}`, `is not taken by channels of type ${type}`);
}
