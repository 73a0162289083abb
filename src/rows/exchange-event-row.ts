import { type Static, Type } from "typebox";
import type { Contracts } from "../contracts/contracts.ts";
import type { ExchangeNotice } from "../contracts/events.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import {
  exchangeShape,
  idFields,
  idShape,
  placeFields,
  placeShape,
  type RowContext,
} from "./trade-row.ts";
import { addressText, hashText, nullable } from "./wire-format.ts";

const addressOrNull = nullable(addressText);
const integerOrNull = nullable(Type.Integer());

/** Everything an exchange logs that is not a fill. */
export const exchangeEventKinds = [
  "order_cancelled",
  "order_preapproved",
  "order_preapproval_invalidated",
  "user_paused",
  "user_unpaused",
  "user_pause_interval_updated",
  "trading_paused",
  "trading_unpaused",
  "role_changed",
  "fee_receiver_updated",
  "max_fee_rate_updated",
] as const satisfies readonly ExchangeNotice["kind"][];

type ExchangeEventKind = (typeof exchangeEventKinds)[number];

/** The kinds that have an `order_hash`, and those that have a `user`: none has both. */
export const orderEventKinds: readonly ExchangeEventKind[] = [
  "order_cancelled",
  "order_preapproved",
  "order_preapproval_invalidated",
];
export const userEventKinds: readonly ExchangeEventKind[] = ["user_paused", "user_unpaused"];

/** One event of an exchange that moves nothing: orders, users, halts, roles and fee settings. */
export const exchangeEventRow = Type.Object({
  ...idShape,
  kind: Type.Enum([...exchangeEventKinds]),
  order_hash: nullable(hashText),
  user: addressOrNull,
  effective_block: integerOrNull,
  by: nullable(addressText, { description: "Who paused, unpaused or changed" }),
  account: nullable(addressText, { description: "role_changed: whose role" }),
  role: Type.Union([Type.Literal("admin"), Type.Literal("operator"), Type.Null()]),
  granted: nullable(Type.Boolean()),
  old_interval_blocks: integerOrNull,
  new_interval_blocks: integerOrNull,
  fee_receiver: addressOrNull,
  max_fee_rate_bps: integerOrNull,
  ...exchangeShape,
  ...placeShape,
});
export type ExchangeEventRow = Static<typeof exchangeEventRow>;

/** An event as clients see it; `null` for events that no exchange logged. */
export function presentExchangeEvent(
  located: LocatedEvent,
  contracts: Contracts,
  context: RowContext,
): ExchangeEventRow | null {
  const { event } = located;
  const contract = contracts.byAddress.get(located.address);
  if (contract?.kind !== "exchange" || !isNotice(event)) return null;
  return {
    ...idFields(located),
    kind: event.kind,
    ...nothing,
    ...fieldsOf(event),
    exchange: contract.exchange,
    exchange_version: contract.generation,
    exchange_address: contract.address,
    ...placeFields(located, context),
  };
}

const nothing = {
  order_hash: null,
  user: null,
  effective_block: null,
  by: null,
  account: null,
  role: null,
  granted: null,
  old_interval_blocks: null,
  new_interval_blocks: null,
  fee_receiver: null,
  max_fee_rate_bps: null,
} as const;

function isNotice(event: LocatedEvent["event"]): event is ExchangeNotice {
  return exchangeEventKinds.some((kind) => kind === event.kind);
}

function fieldsOf(event: ExchangeNotice): Partial<ExchangeEventRow> {
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
