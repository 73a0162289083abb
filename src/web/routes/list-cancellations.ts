import { Type } from "typebox";
import type { Address, Hash } from "../../base/ids.ts";
import {
  cancellationKinds,
  cancellationRow,
  presentCancellation,
} from "../../rows/cancellation-row.ts";
import { readEvents } from "../../store/read-events.ts";
import { type Backend, rowContextOf } from "../backend.ts";
import { positionAfter, rangeFilter, rangeQuery } from "../fill-query.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { address, hash } from "../parameters.ts";
import { defineRoute, type Route } from "../route.ts";

const querystring = Type.Object({
  ...rangeQuery,
  kind: Type.Optional(
    Type.Enum(["order_cancelled", "order_preapproval_invalidated", "user_paused"]),
  ),
  order_hash: Type.Optional(hash),
  user: Type.Optional(address),
});

/** What ended orders, or may have, as far as the chain tells. */
export function listCancellations(backend: Backend): Route {
  const path = "/v1/cancellations";
  return defineRoute({
    method: "GET",
    path,
    access: "read",
    summary: "Cancellations on the chain, by kind; cancelling off the chain leaves no trace",
    querystring,
    response: listOf(cancellationRow),
    errors: ["INVALID_CURSOR", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
    handler: async ({ id: requestId, query }) => {
      const { kind, order_hash, user, order, status } = query;
      const subject = order_hash ?? (user === undefined ? undefined : paddedUser(user));
      const rows = await readEvents(backend.store, {
        ...rangeFilter(query),
        kinds: kind === undefined ? cancellationKinds : [kind],
        ...(subject === undefined ? {} : { subject }),
        order,
        after: positionAfter(backend, path, query),
        limit: query.limit + 1,
        finalizedOnly: status === "finalized",
      });
      const context = rowContextOf(backend);
      const shown = rows.flatMap(
        (event) => presentCancellation(event, backend.contracts, context) ?? [],
      );
      return answerPage(
        backend,
        { path, query, rows: shown, positionOf: (row) => [row.seq] },
        { requestId, present: (row) => row },
      );
    },
  });
}

/** How the store keeps a user as the 32 bytes an event is about. */
function paddedUser(user: Address): Hash {
  return `0x${user.slice(2).padStart(64, "0")}` as Hash;
}
