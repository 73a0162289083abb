import { type Static, Type } from "typebox";
import { address, amount, conditionId, namedToken } from "../../../../base/input/client-texts.ts";
import { mapYielding, sortYielding } from "../../../../base/time/turns.ts";
import type { ValuedPosition } from "../../../../market/ledger/valued-position.ts";
import { readWallet } from "../../../../query/wallets/read-wallet.ts";
import { positionRow, toPositionRow } from "../../../../rows/wallets/position-row.ts";
import type { MarketDirectory } from "../../../../views/markets/market-directory.ts";
import { untilChange } from "../../../backend.ts";
import { listParameters } from "../../../bulk/bulk-format.ts";
import {
  type ListParts,
  listRoute,
  memorySource,
  type RowSource,
} from "../../../lists/row-list.ts";
import type { CursorPosition } from "../../../route/cursor.ts";
import type { Route } from "../../../route/route.ts";
import { unknownWallet } from "./with-wallets.ts";

const pageRows = 100;

/** What positions can be ordered by; `null` for a value that the row has not. */
const sortKeys = {
  value: ({ value }: ValuedPosition) => value,
  size: ({ shares }: ValuedPosition) => shares,
  realized_pnl: ({ realized }: ValuedPosition) => realized,
  unrealized_pnl: ({ unrealized }: ValuedPosition) => unrealized,
  total_pnl: ({ realized, unrealized }: ValuedPosition) =>
    unrealized === null ? null : realized + unrealized,
  last_active: ({ lastSeq }: ValuedPosition) => BigInt(lastSeq),
};

const querystring = Type.Object({
  ...listParameters({ pageRows, pageRowsMax: 500 }),
  status: Type.Enum(["open", "redeemable", "lost", "closed", "all"], { default: "open" }),
  condition_id: Type.Optional(conditionId),
  token_id: Type.Optional(namedToken),
  event_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  min_size: Type.Optional(amount),
  sort: Type.Enum(Object.keys(sortKeys) as (keyof typeof sortKeys)[], { default: "value" }),
  order: Type.Enum(["desc", "asc"], { default: "desc" }),
});

type PositionParameters = Static<typeof querystring>;

/** Lists what a wallet holds, and what it made of it. */
export function listPositions(parts: ListParts): Route {
  const { directory } = parts.state;
  return listRoute(parts, {
    needsWallets: true,
    path: "/v1/wallets/{address}/positions",
    summary: "List positions of a wallet",
    description: "What a wallet holds, at which cost, and what it earned",
    params: Type.Object({ address }),
    querystring,
    pageRows,
    row: positionRow,
    getCachePolicy: () => untilChange(parts),
    open: async ({ params, query, path }) => {
      const read = await readWallet({ ...parts, directory }, params.address);
      if (read === null) throw unknownWallet();
      const rows = await select(read.positions, query, directory);
      return getSource(rows, { query, after: parts.cursors.decode(path, query) });
    },
    toRow: (position) => toPositionRow(position, directory.getToken(position.tokenId)),
  });
}

/** Returns the selected positions in the requested order; ties by token. */
async function select(
  positions: readonly ValuedPosition[],
  query: PositionParameters,
  directory: MarketDirectory,
): Promise<readonly ValuedPosition[]> {
  const { status, min_size: sizeMin = 0n, condition_id: conditionId } = query;
  const marketId = conditionId === undefined ? null : directory.getMarketId(conditionId);
  const isRequested = (position: ValuedPosition): boolean => {
    const slot = directory.getSlot(position.tokenId);
    if (status !== "all" && position.status !== status) return false;
    // A part of a balance can be negative, and says nothing about its size.
    if ((position.isComplete ? position.shares : 0n) < sizeMin) return false;
    if (query.token_id !== undefined && position.tokenId !== query.token_id) return false;
    const market = slot && directory.getMarketId(slot.conditionId);
    if (marketId !== null && market !== marketId) return false;
    if (query.event_id === undefined) return true;
    const { eventId, negRiskMarketId } = (market && directory.market(market)) ?? {};
    return eventId === query.event_id || negRiskMarketId === query.event_id;
  };
  const compare = comparePlaces(query);
  const toPlace = getPlace(query);
  const selected: ValuedPosition[] = [];
  await mapYielding(positions, (position) => {
    if (isRequested(position)) selected.push(position);
  });
  return sortYielding(selected, (one, other) => compare(toPlace(one), toPlace(other)));
}

type Order = Pick<PositionParameters, "sort" | "order">;

/** Where a position is in its list: its key, and its token. */
type Place = readonly [key: bigint | null, tokenId: string];

function getPlace({ sort }: Order): (position: ValuedPosition) => Place {
  const getKey = sortKeys[sort];
  return (position) => {
    const isKnown = position.isComplete || sort === "last_active";
    return [isKnown ? getKey(position) : null, position.tokenId];
  };
}

/** Compares by key, then by token. Positions without a key come last in both orders. */
function comparePlaces({ order }: Order): (one: Place, other: Place) => number {
  const sign = order === "asc" ? 1 : -1;
  return ([a, oneId], [b, otherId]) => {
    if (a === b) return oneId < otherId ? -1 : oneId === otherId ? 0 : 1;
    if (a === null || b === null) return a === null ? 1 : -1;
    return a < b ? -sign : sign;
  };
}

/** A page starts after the key and the token of the last row of the one before, wherever that position is now. */
function getSource(
  rows: readonly ValuedPosition[],
  { query, after }: { readonly query: PositionParameters; readonly after: CursorPosition | null },
): RowSource<ValuedPosition> {
  const compare = comparePlaces(query);
  const toPlace = getPlace(query);
  return memorySource(rows, {
    after,
    toPosition: (position) => toPlace(position).map(String),
    isAfter: (position, [key, token = ""]) => {
      const last: Place = [key === "null" ? null : BigInt(key ?? 0), String(token)];
      return compare(toPlace(position), last) > 0;
    },
  });
}
