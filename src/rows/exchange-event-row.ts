import { type Static, Type } from "typebox";
import { assert } from "../base/assert.ts";
import { type ExchangeNotice, noticeKinds } from "../contracts/events.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import * as trade from "./trade-row.ts";
import { addressText, hashText, nullable } from "./wire-format.ts";

/** The kinds of events that can end an order before it is filled, as far as the chain shows. */
export const cancellationKinds = [
  "order_cancelled",
  "order_preapproval_invalidated",
  "user_paused",
] as const satisfies typeof noticeKinds;

type Cancellation = Extract<ExchangeNotice, { readonly kind: (typeof cancellationKinds)[number] }>;

const addressOrNull = nullable(addressText);
const integerOrNull = nullable(Type.Integer());

const endShape = {
  order_hash: nullable(hashText),
  user: addressOrNull,
  effective_block: integerOrNull,
};

/** One cancellation. Only `order_cancelled` is certain to end an order. */
export const cancellationRow = Type.Object({
  ...trade.idShape,
  kind: Type.Enum([...cancellationKinds]),
  ...endShape,
  ...trade.exchangeShape,
  ...trade.locationShape,
});

/** One event of an exchange that moves no assets: about orders, users, pauses, roles or fee settings. */
export const exchangeEventRow = Type.Object({
  ...trade.idShape,
  kind: Type.Enum([...noticeKinds]),
  ...endShape,
  by: addressOrNull,
  account: addressOrNull,
  role: Type.Union([Type.Literal("admin"), Type.Literal("operator"), Type.Null()]),
  granted: nullable(Type.Boolean()),
  old_interval_blocks: integerOrNull,
  new_interval_blocks: integerOrNull,
  fee_receiver: addressOrNull,
  max_fee_rate_bps: integerOrNull,
  ...trade.exchangeShape,
  ...trade.locationShape,
});
type ExchangeEventRow = Static<typeof exchangeEventRow>;

const noEnd = { order_hash: null, user: null, effective_block: null };
const noChange = {
  by: null,
  account: null,
  role: null,
  granted: null,
  old_interval_blocks: null,
  new_interval_blocks: null,
  fee_receiver: null,
  max_fee_rate_bps: null,
};

/** A cancellation as clients see it; `null` for events of another kind. */
export function toCancellationRow(
  located: LocatedEvent,
  context: trade.RowContext,
): Static<typeof cancellationRow> | null {
  const { event } = located;
  if (!isCancellation(event)) return null;
  return toLocatedRow(located, { kind: event.kind, ...noEnd, ...getFields(event) }, context);
}

/** An event as clients see it; `null` for events of other contracts, and for fills. */
export function toExchangeEventRow(
  located: LocatedEvent,
  context: trade.RowContext,
): ExchangeEventRow | null {
  const { event } = located;
  if (!isNotice(event)) return null;
  const fields = { kind: event.kind, ...noEnd, ...noChange, ...getFields(event) };
  return toLocatedRow(located, fields, context);
}

function toLocatedRow<Fields>(located: LocatedEvent, fields: Fields, context: trade.RowContext) {
  const contract = context.contracts.byAddress.get(located.address);
  assert(contract?.kind === "exchange", "nothing else logs such events");
  return {
    ...trade.idFields(located),
    ...fields,
    exchange: contract.exchange,
    exchange_version: contract.generation,
    exchange_address: contract.address,
    ...trade.locationFields(located, context),
  };
}

/** Whether an event can end an order. */
export function isCancellation(event: LocatedEvent["event"]): event is Cancellation {
  return cancellationKinds.some((kind) => kind === event.kind);
}

/** Whether an exchange logged an event. */
export function isNotice(event: LocatedEvent["event"]): event is ExchangeNotice {
  return noticeKinds.some((kind) => kind === event.kind);
}

function getFields(event: ExchangeNotice): Partial<Omit<ExchangeEventRow, "kind">> {
  switch (event.kind) {
    case "order_cancelled":
    case "order_preapproved":
    case "order_preapproval_invalidated":
      return { order_hash: event.orderHash };
    case "user_paused":
      return { user: event.user, effective_block: Number(event.effectiveBlock) };
    case "user_unpaused":
      return { user: event.user };
    case "user_pause_interval_updated":
      return {
        old_interval_blocks: Number(event.oldInterval),
        new_interval_blocks: Number(event.newInterval),
      };
    case "trading_paused":
    case "trading_unpaused":
      return { by: event.by };
    case "role_changed": {
      const { account, role, granted, by } = event;
      return { account, role, granted, by };
    }
    case "fee_receiver_updated":
      return { fee_receiver: event.feeReceiver };
    case "max_fee_rate_updated":
      return { max_fee_rate_bps: Number(event.maxFeeRateBps) };
  }
}
