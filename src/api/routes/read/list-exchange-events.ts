import { type Static, type TObject, Type } from "typebox";
import { assert } from "../../../base/assert.ts";
import { address, hash } from "../../../base/input/client-texts.ts";
import { type ExchangeNotice, noticeKinds, subjectFieldByKind } from "../../../contracts/events.ts";
import type { LocatedEvent } from "../../../market/block-facts.ts";
import { type EventFilter, storedEvents } from "../../../query/read-events.ts";
import {
  cancellationKinds,
  cancellationRow,
  exchangeEventRow,
  toCancellationRow,
  toExchangeEventRow,
} from "../../../rows/exchange-event-row.ts";
import { subjectOfAddress } from "../../../storage/codec/event-codec.ts";
import type { Backend } from "../../backend.ts";
import {
  fillParameters,
  listOrder,
  rangeParameters,
  toRangeFilter,
} from "../../lists/fill-parameters.ts";
import { type ListParts, listRoute, storedSource } from "../../lists/row-list.ts";
import type { Route } from "../../route/route.ts";

type Kind = ExchangeNotice["kind"];

const eventParameters = {
  ...rangeParameters,
  order_hash: Type.Optional(hash),
  user: Type.Optional(address),
  exchange: fillParameters.exchange,
};
type EventParameters = Static<TObject<typeof eventParameters>> & { readonly kind?: Kind };

/** Lists events that canceled orders, or could have, as far as the chain shows. */
export function listCancellations(parts: ListParts): Route {
  return eventListRoute(parts, {
    path: "/v1/cancellations",
    summary: "List cancellations",
    description:
      "Cancellations on the chain. Orders that are canceled at the venue leave no trace there",
    row: cancellationRow,
    kinds: cancellationKinds,
    toRow: toCancellationRow,
  });
}

/** Lists everything that exchanges log besides fills: cancellations, approvals, pauses, roles and fee settings. */
export function listExchangeEvents(parts: ListParts): Route {
  return eventListRoute(parts, {
    path: "/v1/exchange-events",
    summary: "List other exchange events",
    description:
      "Cancellations, approvals, pauses, roles and fees: everything exchanges log except fills",
    row: exchangeEventRow,
    kinds: noticeKinds,
    toRow: toExchangeEventRow,
  });
}

function eventListRoute(
  parts: ListParts,
  {
    kinds,
    toRow,
    ...list
  }: Pick<Route, "path" | "summary" | "description"> & {
    readonly row: TObject;
    readonly kinds: readonly Kind[];
    readonly toRow: (...of: Parameters<typeof toExchangeEventRow>) => object | null;
  },
): Route {
  return listRoute(parts, {
    ...list,
    querystring: Type.Object({ ...eventParameters, kind: Type.Optional(Type.Enum([...kinds])) }),
    toRow: (located: LocatedEvent, context) => {
      const event = toRow(located, context);
      assert(event !== null, "only what exchanges log is read");
      return event;
    },
    open: ({ query, path }) => {
      const order = listOrder(parts, { path, query });
      return storedSource(
        parts.facts,
        storedEvents({ ...eventFilter(parts, kinds, query), ...order }),
      );
    },
  });
}

function eventFilter(
  backend: Backend,
  kinds: readonly Kind[],
  query: EventParameters,
): EventFilter {
  const { order_hash, user } = query;
  const subject = order_hash ?? (user && subjectOfAddress(user));
  return {
    ...toRangeFilter(query),
    kinds: kinds.filter((kind) => isRequestedBy(kind, query)),
    addresses: getExchanges(backend, query.exchange),
    subjects: subject && [subject],
  };
}

/** Returns the addresses to read; `undefined` for any, because only exchanges log these events. */
function getExchanges({ state }: Backend, requested: EventParameters["exchange"]) {
  if (requested === undefined) return undefined;
  const all = [...state.directory.contracts.byAddress.values()];
  return all.flatMap((one) =>
    one.kind === "exchange" && one.exchange === requested ? one.address : [],
  );
}

/** Returns whether a query selects a kind. `order_hash` and `user` need a kind that names one; no kind names both. */
function isRequestedBy(one: Kind, { kind, order_hash, user }: EventParameters): boolean {
  return (
    (kind === undefined || one === kind) &&
    (order_hash === undefined || subjectFieldByKind[one] === "orderHash") &&
    (user === undefined || subjectFieldByKind[one] === "user")
  );
}
