import { type Static, Type } from "typebox";
import type { Address, Hash } from "../../base/ids.ts";
import type { ExchangeNotice } from "../../decode/events.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import {
  cancellationKinds,
  cancellationRow,
  presentCancellation,
} from "../../rows/cancellation-row.ts";
import {
  exchangeEventKinds,
  exchangeEventRow,
  orderEventKinds,
  presentExchangeEvent,
  userEventKinds,
} from "../../rows/exchange-event-row.ts";
import { readEvents } from "../../store/read-events.ts";
import { type Backend, rowContextOf } from "../backend.ts";
import { positionAfter, rangeFilter, rangeQuery } from "../fill-query.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { address, hash } from "../parameters.ts";
import { defineRoute, type Route } from "../route.ts";

const eventQuery = {
  ...rangeQuery,
  order_hash: Type.Optional(hash),
  user: Type.Optional(address),
};
const cancellationQuery = Type.Object({
  ...eventQuery,
  kind: Type.Optional(Type.Enum([...cancellationKinds])),
});
const exchangeEventQuery = Type.Object({
  ...eventQuery,
  kind: Type.Optional(Type.Enum([...exchangeEventKinds])),
});
const common = {
  method: "GET",
  access: "read",
  errors: ["INVALID_CURSOR", "SERVICE_UNAVAILABLE"],
  cacheControl: "private, max-age=1",
} as const;

/** What ended orders, or may have, as far as the chain tells. */
export function listCancellations(backend: Backend): Route {
  const path = "/v1/cancellations";
  return defineRoute({
    ...common,
    path,
    summary: "Cancellations on the chain, by kind; cancelling off the chain leaves no trace",
    querystring: cancellationQuery,
    response: listOf(cancellationRow),
    handler: async ({ id: requestId, query }) => {
      const events = await readPage(backend, query, { path, kinds: cancellationKinds });
      const context = rowContextOf(backend);
      const rows = events.flatMap((e) => presentCancellation(e, backend.contracts, context) ?? []);
      return answerPage(
        backend,
        { path, query, rows, positionOf: (row) => [row.seq] },
        { requestId, present: (row) => row },
      );
    },
  });
}

/** Everything else that exchanges log: approvals, pauses, roles and fee settings too. */
export function listExchangeEvents(backend: Backend): Route {
  const path = "/v1/exchange-events";
  return defineRoute({
    ...common,
    path,
    summary: "What exchanges log besides fills: cancellations, approvals, pauses, roles, fees",
    querystring: exchangeEventQuery,
    response: listOf(exchangeEventRow),
    handler: async ({ id: requestId, query }) => {
      const events = await readPage(backend, query, { path, kinds: exchangeEventKinds });
      const context = rowContextOf(backend);
      const rows = events.flatMap((e) => presentExchangeEvent(e, backend.contracts, context) ?? []);
      return answerPage(
        backend,
        { path, query, rows, positionOf: (row) => [row.seq] },
        { requestId, present: (row) => row },
      );
    },
  });
}

/** One row more than asked for. */
function readPage(
  backend: Backend,
  query: Static<typeof exchangeEventQuery>,
  { path, kinds }: { path: string; kinds: readonly ExchangeNotice["kind"][] },
): Promise<readonly LocatedEvent[]> {
  const { order_hash, user, order, status } = query;
  const subject = order_hash ?? (user === undefined ? undefined : paddedUser(user));
  return readEvents(backend.store, {
    ...rangeFilter(query),
    kinds: kinds.filter((kind) => isAskedFor(kind, query)),
    ...(subject === undefined ? {} : { subject }),
    order,
    after: positionAfter(backend, path, query),
    limit: query.limit + 1,
    finalizedOnly: status === "finalized",
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
