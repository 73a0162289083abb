import { type Static, Type } from "typebox";
import { assert } from "../../../base/assert.ts";
import type { Address, Hash } from "../../../base/ids.ts";
import { address, hash } from "../../../base/input/client-texts.ts";
import type { Contracts } from "../../../contracts/contracts.ts";
import type { ExchangeNotice } from "../../../contracts/events.ts";
import type { LocatedEvent } from "../../../market/block-facts.ts";
import { type EventFilter, storedEvents } from "../../../query/read-events.ts";
import {
  cancellationKinds,
  cancellationRow,
  presentCancellation,
} from "../../../rows/cancellation-row.ts";
import {
  exchangeEventKinds,
  exchangeEventRow,
  orderEventKinds,
  presentExchangeEvent,
  userEventKinds,
} from "../../../rows/exchange-event-row.ts";
import type { RowContext } from "../../../rows/trade-row.ts";
import type { Backend } from "../../backend.ts";
import type { Row } from "../../bulk/columns.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import { fillQuery, listOrder, rangeFilter, rangeQuery } from "../../lists/fill-query.ts";
import {
  answerList,
  type ListParts,
  type RowSource,
  rowListRoute,
  shownAs,
  storedSource,
} from "../../lists/row-list.ts";

const eventQuery = {
  ...rangeQuery,
  order_hash: Type.Optional(hash),
  user: Type.Optional(address),
  exchange: fillQuery.exchange,
};
const cancellationQuery = Type.Object({
  ...eventQuery,
  kind: Type.Optional(Type.Enum([...cancellationKinds])),
});
const exchangeEventQuery = Type.Object({
  ...eventQuery,
  kind: Type.Optional(Type.Enum([...exchangeEventKinds])),
});

/** Events that ended orders, or may have, as far as the chain shows. */
export function listCancellations(parts: ListParts): Route {
  const path = "/v1/cancellations";
  return defineRoute({
    ...rowListRoute(cancellationRow),
    path,
    summary: "Cancellations on the chain, by kind; canceling off the chain leaves no trace",
    querystring: cancellationQuery,
    handler: (request, reply) => {
      const { query } = request;
      const source = eventSource(parts.backend, cancellationKinds, { path, query });
      const list = { path, query, name: "cancellations", row: cancellationRow, source };
      const shown = ofExchange(presentCancellation, parts.backend);
      return answerList(parts, { request, reply }, { ...list, ...shown });
    },
  });
}

/** Everything else that exchanges log: approvals, pauses, roles and fee settings too. */
export function listExchangeEvents(parts: ListParts): Route {
  const path = "/v1/exchange-events";
  return defineRoute({
    ...rowListRoute(exchangeEventRow),
    path,
    summary: "What exchanges log besides fills: cancellations, approvals, pauses, roles, fees",
    querystring: exchangeEventQuery,
    handler: (request, reply) => {
      const { query } = request;
      const source = eventSource(parts.backend, exchangeEventKinds, { path, query });
      const list = { path, query, name: "exchange-events", row: exchangeEventRow, source };
      const shown = ofExchange(presentExchangeEvent, parts.backend);
      return answerList(parts, { request, reply }, { ...list, ...shown });
    },
  });
}

function eventSource(
  backend: Backend,
  kinds: readonly ExchangeNotice["kind"][],
  place: { readonly path: string; readonly query: Static<typeof exchangeEventQuery> },
): RowSource<LocatedEvent> {
  const { query } = place;
  const { order_hash, user } = query;
  const subject = order_hash ?? (user === undefined ? undefined : paddedUser(user));
  const filter: EventFilter = {
    ...rangeFilter(query),
    kinds: kinds.filter((kind) => isAskedFor(kind, query)),
    addresses: exchangesOf(backend, query.exchange),
    subject,
  };
  return storedSource(backend.store, storedEvents({ ...filter, ...listOrder(backend, place) }));
}

/** What else logs such events, or did when it was indexed, is not sent. */
function exchangesOf(
  { contracts }: Backend,
  wanted: Static<typeof exchangeEventQuery>["exchange"],
): readonly Address[] {
  const all = [...contracts.byAddress.values()].filter((contract) => contract.kind === "exchange");
  return all
    .filter(({ exchange }) => wanted === undefined || exchange === wanted)
    .map(({ address: own }) => own);
}

function ofExchange(
  present: (located: LocatedEvent, contracts: Contracts, context: RowContext) => Row | null,
  { contracts }: Backend,
) {
  return shownAs((located: LocatedEvent, context: RowContext): Row => {
    const row = present(located, contracts, context);
    assert(row !== null, "only what exchanges log is read");
    return row;
  });
}

/** Who asks for an order or a user asks for kinds that name one; for both, for nothing. */
function isAskedFor(
  one: ExchangeNotice["kind"],
  { kind, order_hash, user }: Static<typeof exchangeEventQuery>,
): boolean {
  return (
    (kind === undefined || one === kind) &&
    (order_hash === undefined || orderEventKinds.includes(one)) &&
    (user === undefined || userEventKinds.includes(one))
  );
}

/** How the store keeps a user as the 32 bytes an event is about. */
function paddedUser(user: Address): Hash {
  return `0x${user.slice(2).padStart(64, "0")}` as Hash;
}
