import { type Static, Type } from "typebox";
import { AppError } from "../../../base/errors.ts";
import { address, amount, conditionId, tokenId } from "../../../base/input/client-texts.ts";
import { readPositions } from "../../../query/wallets/read-positions.ts";
import { positionRow, presentPosition } from "../../../rows/position-row.ts";
import type { MarketDirectory } from "../../../views/markets/market-directory.ts";
import type { ValuedPosition } from "../../../views/prices/position-value.ts";
import { bulkQuery } from "../../bulk/bulk-format.ts";
import { cursor } from "../../http/parameters.ts";
import {
  answerList,
  type ListParts,
  publicAs,
  type RowSource,
  rowListRoute,
} from "../../lists/row-list.ts";
import { defineRoute, type Route } from "../../route/route.ts";

const pageRows = 100;

const querystring = Type.Object({
  ...bulkQuery({ pageRows, pageRowsMax: 500 }),
  cursor: Type.Optional(cursor),
  status: Type.Enum(["open", "redeemable", "lost", "closed", "all"], { default: "open" }),
  condition_id: Type.Optional(conditionId),
  token_id: Type.Optional(tokenId),
  event_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  min_size: Type.Optional(amount),
  sort: Type.Enum(["value", "size", "realized_pnl", "unrealized_pnl", "total_pnl", "last_active"], {
    default: "value",
  }),
  order: Type.Enum(["desc", "asc"], { default: "desc" }),
});

type PositionQuery = Static<typeof querystring>;

/** Lists what a wallet holds, and what it made of it. */
export function listPositions(parts: ListParts): Route {
  const { facts, state } = parts;
  return defineRoute({
    ...rowListRoute(positionRow),
    path: "/v1/wallets/{address}/positions",
    summary: "List positions of a wallet",
    description: "What a wallet holds, at which cost, and what it earned",
    params: Type.Object({ address }),
    querystring,
    handler: async ({ params, query }, reply) => {
      const { directory } = state;
      if (!directory.contracts.wallets) {
        throw new AppError("NOT_FOUND", "Wallets are not indexed: ODDWIRE_WALLETS is off");
      }
      const read = await readPositions({ facts, directory }, params.address);
      if (read === null) throw new AppError("NOT_FOUND", "This wallet was never seen");
      const path = `/v1/wallets/${params.address}/positions`;
      const rows = select(read, query, directory);
      const after = parts.cursors.decode(path, query);
      const source = getSource(rows, { query, after });
      const present = publicAs((position: ValuedPosition) => presentPosition(position, directory));
      return answerList(parts, reply, {
        path,
        query,
        pageRows,
        row: positionRow,
        source,
        ...present,
      });
    },
  });
}

/** Returns the selected positions in the requested order; ties by token. */
function select(
  positions: readonly ValuedPosition[],
  query: PositionQuery,
  directory: MarketDirectory,
): readonly ValuedPosition[] {
  const { status, min_size: sizeMin = 0n, order } = query;
  const isRequested = (position: ValuedPosition): boolean => {
    const place = directory.getPlace(position.tokenId);
    if (status !== "all" && position.status !== status) return false;
    if (position.shares < sizeMin) return false;
    if (query.token_id !== undefined && position.tokenId !== query.token_id) return false;
    if (query.condition_id !== undefined && place?.conditionId !== query.condition_id) return false;
    if (query.event_id === undefined) return true;
    const market = place && directory.market(place.conditionId);
    return market?.eventId === query.event_id || market?.negRiskMarketId === query.event_id;
  };
  const sign = order === "asc" ? 1 : -1;
  return positions.filter(isRequested).toSorted((one, other) => {
    const [a, b] = [getKey(one, query), getKey(other, query)];
    if (a !== b) return a < b ? -sign : sign;
    return one.tokenId < other.tokenId ? -1 : 1;
  });
}

function getKey(position: ValuedPosition, { sort }: PositionQuery): bigint {
  switch (sort) {
    case "value":
      return position.value ?? 0n;
    case "size":
      return position.shares;
    case "realized_pnl":
      return position.realized;
    case "unrealized_pnl":
      return position.unrealized ?? 0n;
    case "total_pnl":
      return position.realized + (position.unrealized ?? 0n);
    case "last_active":
      return BigInt(position.lastSeq);
  }
}

/** A page starts after the key and the token of the last row of the one before, wherever that position is now. */
function getSource(
  rows: readonly ValuedPosition[],
  {
    query,
    after,
  }: { readonly query: PositionQuery; readonly after: readonly (string | number)[] | null },
): RowSource<ValuedPosition> {
  const sign = query.order === "asc" ? 1n : -1n;
  const [key = "0", token = ""] = after ?? [];
  const isAfter = (position: ValuedPosition): boolean => {
    const distance = (getKey(position, query) - BigInt(key)) * sign;
    return distance > 0n || (distance === 0n && position.tokenId > String(token));
  };
  const rest = after === null ? rows : rows.filter(isAfter);
  const toPosition = (position: ValuedPosition) =>
    [String(getKey(position, query)), position.tokenId] as const;
  return {
    first: async (count) => rest.slice(0, count),
    toPosition,
    openAll: async (rowsMax) => {
      const sent = rest.slice(0, rowsMax);
      const last = rest.length > rowsMax ? sent.at(-1) : undefined;
      const edge = last === undefined ? null : toPosition(last);
      return { rowCount: sent.length, edge, chunks: [sent] };
    },
  };
}
