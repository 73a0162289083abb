import { formatMicros } from "../../base/decimal.ts";
import { formatTokenId, type TokenId } from "../../base/ids.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { formatConditionId } from "../../rows/wire-format.ts";
import type { ChannelRequest, Filter } from "../frames/client-frame.ts";

type RequestField = "token_id" | "token_ids" | "resolution";

/** The fields and filters that a channel type accepts. Others are refused, not ignored. */
export type Accepted = {
  readonly fields: readonly RequestField[];
  readonly filters: readonly (keyof Filter)[];
};

/** Throws `VALIDATION_ERROR` when a request has a field or a filter that its channel type does not accept. */
export function checkRequest(request: ChannelRequest, { fields, filters }: Accepted): void {
  for (const name of ["token_id", "token_ids", "resolution"] as const) {
    if (request[name] !== undefined && !fields.includes(name)) throw notTaken(name, request);
  }
  for (const name of Object.keys(request.filter ?? {}) as (keyof Filter)[]) {
    if (!filters.includes(name)) throw notTaken(`filter.${name}`, request);
  }
}

/** Returns the tokens of a request, sorted and without duplicates. Throws `VALIDATION_ERROR` if there are none. */
export function requestedTokens({ token_id, token_ids }: ChannelRequest): readonly TokenId[] {
  if (token_id !== undefined && token_ids !== undefined) {
    throw invalid("channel.token_ids", "cannot be given together with token_id");
  }
  const tokenIds = token_ids ?? (token_id === undefined ? [] : [token_id]);
  if (tokenIds.length === 0) throw invalid("channel.token_id", "or token_ids is required");
  return [...new Set(tokenIds)].toSorted();
}

/** Returns the field by which a request names these tokens; no field without tokens. */
export function shownTokens(tokenIds: readonly TokenId[]): Readonly<Record<string, unknown>> {
  const [first, ...others] = tokenIds.map(formatTokenId);
  if (first === undefined) return {};
  return others.length === 0 ? { token_id: first } : { token_ids: [first, ...others] };
}

/** Returns the filter of a request with its fields in a fixed order; no field when nothing is filtered. */
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
