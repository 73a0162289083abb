import { Type } from "typebox";
import { storeLimits } from "../../../base/config/limits.ts";
import { AppError } from "../../../base/errors.ts";
import { toLogIndex } from "../../../base/ids.ts";
import { hash } from "../../../base/input/client-texts.ts";
import type { LocatedEvent } from "../../../market/block-facts.ts";
import { isTrade } from "../../../market/fill.ts";
import { getResolution } from "../../../market/market.ts";
import { describeResolution } from "../../../query/markets/read-resolutions.ts";
import { readTransaction } from "../../../query/read-transaction.ts";
import { getRowContext } from "../../../query/row-context.ts";
import {
  exchangeEventRow,
  isNotice,
  toExchangeEventRow,
} from "../../../rows/exchange-event-row.ts";
import { fillRow, toFillRow } from "../../../rows/fill-row.ts";
import { matchRow, toMatchRow } from "../../../rows/match-row.ts";
import { resolutionRow, toResolutionRow } from "../../../rows/resolution-row.ts";
import {
  idFields,
  locationFields,
  toMarketFields,
  toTradeRow,
  tradeRow,
} from "../../../rows/trade-row.ts";
import { addressText, hashText, nullable } from "../../../rows/wire-format.ts";
import { getSubject } from "../../../storage/codec/event-codec.ts";
import type { Backend } from "../../backend.ts";
import { toObjectShape } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

const { tx_hash, block_number, block_hash, timestamp, timestamp_ms, status } = tradeRow.properties;
const rowsMax = storeLimits.orderFillsMax;

const otherEventShape = Type.Object({
  id: tradeRow.properties.id,
  seq: tradeRow.properties.seq,
  log_index: tradeRow.properties.log_index,
  kind: Type.String({
    description: "The fields of the log, by the name of its event",
    examples: ["condition_prepared"],
  }),
  address: addressText,
  subject: nullable(hashText, {
    description: "The condition, question or event that it is about",
  }),
});

const transactionRow = Type.Object({
  tx_hash,
  block_number,
  block_hash,
  timestamp,
  timestamp_ms,
  status,
  truncated: Type.Boolean({
    description: `Whether more than ${rowsMax} fills or other logs exist`,
    examples: [false],
  }),
  trades: Type.Array(tradeRow, { description: "The maker leg of every match, with its market" }),
  matches: Type.Array(matchRow, { description: "What each taker order got" }),
  fills: Type.Array(fillRow, { description: "Every OrderFilled" }),
  resolutions: Type.Array(resolutionRow, { description: "Results reported in the transaction" }),
  exchange_events: Type.Array(exchangeEventRow, {
    description: "Cancellations, approvals, pauses, roles and fees",
  }),
  other_events: Type.Array(otherEventShape, {
    description: "Everything else that the indexed contracts logged, such as new conditions",
  }),
});

/** Returns everything that the indexed contracts logged in one transaction. */
export function getTransaction(backend: Backend): Route {
  return defineRoute({
    path: "/v1/transactions/{tx_hash}",
    summary: "Get a transaction",
    description: "All trades, fills, matches and events of one transaction",
    params: Type.Object({ tx_hash: hash }),
    response: toObjectShape(transactionRow),
    cacheControl: "private, max-age=1",
    handler: async ({ params: { tx_hash: txHash } }) => {
      const { fills, events } = await readTransaction(backend.facts, {
        txHash,
        limit: rowsMax + 1,
      });
      const [first] = [...fills, ...events];
      if (first === undefined)
        throw new AppError("NOT_FOUND", "This transaction has no exchange events");
      const context = getRowContext(backend);
      const { directory } = backend.state;
      const { log_index: _index, ...location } = locationFields(first, context);
      const included = fills.slice(0, rowsMax);
      const data = {
        ...location,
        truncated: fills.length > rowsMax || events.length > rowsMax,
        trades: included.filter(isTrade).map((fill) => ({
          ...toTradeRow(fill, context),
          ...toMarketFields(context.getToken(fill.tokenId).market),
        })),
        matches: included
          .filter(({ role }) => role === "taker")
          .map((fill) => toMatchRow(fill, context)),
        fills: included.map((fill) => toFillRow(fill, context)),
        resolutions: events
          .flatMap((event) => getResolution(event) ?? [])
          .map((one) => toResolutionRow(describeResolution(one, directory), context)),
        exchange_events: events.flatMap((event) => toExchangeEventRow(event, context) ?? []),
        other_events: events
          .filter((one) => getResolution(one) === null && !isNotice(one.event))
          .map(toOtherRow),
      };
      return { data };
    },
  });
}

function toOtherRow(located: LocatedEvent) {
  const { seq, address, event } = located;
  return {
    ...idFields(located),
    log_index: toLogIndex(seq),
    kind: event.kind,
    address,
    subject: getSubject(event),
  };
}
