import { Type } from "typebox";
import { storeLimits } from "../../../base/config/limits.ts";
import { AppError } from "../../../base/errors.ts";
import { hash } from "../../../base/input/client-texts.ts";
import { subjectFieldByKind } from "../../../contracts/events.ts";
import { readEvents } from "../../../query/read-events.ts";
import { readFills } from "../../../query/read-fills.ts";
import { getRowContext } from "../../../query/row-context.ts";
import {
  cancellationKinds,
  cancellationRow,
  toCancellationRow,
} from "../../../rows/exchange-event-row.ts";
import { fillRow, toFillRow } from "../../../rows/fill-row.ts";
import { hashText } from "../../../rows/wire-format.ts";
import type { Backend } from "../../backend.ts";
import { toObjectShape } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

const orderRow = Type.Object({
  order_hash: hashText,
  truncated: Type.Boolean({ description: `More than ${storeLimits.orderFillsMax} fills exist` }),
  fills: Type.Array(fillRow),
  cancellations: Type.Array(cancellationRow),
});

/** Returns the fills and cancellations of one order that are on the chain. */
export function getOrder(backend: Backend): Route {
  return defineRoute({
    path: "/v1/orders/{order_hash}",
    summary: "Get an order",
    description: "All fills of one order and what ended it",
    params: Type.Object({ order_hash: hash }),
    response: toObjectShape(orderRow),
    cacheControl: "private, max-age=1",
    handler: async ({ params: { order_hash } }) => {
      const page = { order: "asc", after: null, finalizedOnly: false } as const;
      const limit = storeLimits.orderFillsMax;
      const filter = { orderHash: order_hash };
      const [fills, events] = await Promise.all([
        readFills(backend.facts, { ...page, filter, limit: limit + 1 }),
        readEvents(backend.facts, {
          ...page,
          kinds: cancellationKinds.filter((kind) => subjectFieldByKind[kind] === "orderHash"),
          subjects: [order_hash],
          limit,
        }),
      ]);
      if (fills.length === 0 && events.length === 0)
        throw new AppError("NOT_FOUND", "No order with this hash was filled or canceled");
      const context = getRowContext(backend);
      const data = {
        order_hash,
        truncated: fills.length > limit,
        fills: fills.slice(0, limit).map((fill) => toFillRow(fill, context)),
        cancellations: events.flatMap((event) => toCancellationRow(event, context) ?? []),
      };
      return { data };
    },
  });
}
