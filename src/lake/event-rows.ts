/** Whether a row of a file of events is one that this service has written: it can hold any JSON. */
import { type TProperties, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { StoredEvent } from "../contracts/events.ts";
import { decodeEvent, encodeEvent, getSubject } from "../storage/codec/event-codec.ts";

const hash = Type.String({ pattern: "^0x[0-9a-f]{64}$" });
const address = Type.String({ pattern: "^0x[0-9a-f]{40}$" });
const text = Type.String({ pattern: "^0x(?:[0-9a-f]{2})*$" });
const uint = Type.BigInt({ minimum: 0n, maximum: 2n ** 256n - 1n });
const nullable = (of: TProperties[string]) => Type.Union([of, Type.Null()]);
const list = { minItems: 1, maxItems: 256 };

type Shapes = {
  readonly [Event in StoredEvent as Event["kind"]]: Readonly<
    Record<Exclude<keyof Event, "kind">, TProperties[string]>
  >;
};

/** The fields of each kind. Contracts allow 256 outcomes and 50 legs, and no result of zeros. */
const shapes: Shapes = {
  order_cancelled: { orderHash: hash },
  order_preapproved: { orderHash: hash },
  order_preapproval_invalidated: { orderHash: hash },
  user_paused: { user: address, effectiveBlock: uint },
  user_unpaused: { user: address },
  user_pause_interval_updated: { oldInterval: uint, newInterval: uint },
  trading_paused: { by: address },
  trading_unpaused: { by: address },
  role_changed: {
    role: Type.Enum(["admin", "operator"]),
    account: address,
    granted: Type.Boolean(),
    by: address,
  },
  fee_receiver_updated: { feeReceiver: address },
  max_fee_rate_updated: { maxFeeRateBps: uint },
  condition_prepared: {
    conditionId: hash,
    oracle: address,
    questionId: hash,
    outcomeSlotCount: Type.Integer({ minimum: 2, maximum: 256 }),
  },
  condition_resolved: {
    conditionId: hash,
    oracle: address,
    questionId: nullable(hash),
    payouts: Type.Array(uint, { ...list, contains: Type.BigInt({ minimum: 1n }) }),
  },
  token_registered: { token0: hash, token1: hash, conditionId: hash },
  question_initialized: {
    questionId: hash,
    creator: nullable(address),
    text,
    isHashOfText: Type.Boolean(),
    bond: uint,
  },
  question_updated: { questionId: hash, owner: address, text },
  neg_risk_market_prepared: { negRiskMarketId: hash, oracle: address, feeBips: uint, text },
  neg_risk_question_prepared: { negRiskMarketId: hash, questionId: hash, text },
  neg_risk_question_requested: { negRiskMarketId: hash, questionId: hash, requestId: hash, text },
  oracle_step: {
    questionId: hash,
    step: Type.Enum(["requested", "proposed", "disputed", "reset", "settled"]),
    requester: nullable(address),
    account: nullable(address),
    price: nullable(Type.BigInt({ minimum: -(2n ** 255n), maximum: 2n ** 256n - 1n })),
    bond: nullable(uint),
  },
  gen3_event_announced: {
    eventId: hash,
    marketType: Type.Enum(["binary", "incremental", "atomic"]),
  },
  gen3_reporter_added: { eventId: hash, reporter: address },
  gen3_text_registered: {
    requestId: hash,
    requester: address,
    isNumerical: Type.Boolean(),
    text,
  },
  gen3_text_updated: { requestId: hash, text },
  gen3_window_reported: { eventId: hash, questionId: hash },
  gen3_asset_pair_added: { assetPair: hash },
  gen3_module_added: { module: address },
  gen3_contract_upgraded: { implementation: address },
  gen3_condition_migrated: { conditionId: hash, legacyConditionId: hash },
  gen3_migration_resolved: { conditionId: hash, legacyConditionId: hash },
  gen3_combo_prepared: { conditionId: hash, legs: Type.Array(hash, list) },
  gen3_remaining_resolved_no: { eventId: hash },
  gen3_other_resolved_yes: { eventId: hash, conditionId: hash },
};

const isStrict = { additionalProperties: false };
const checkers = new Map(
  Object.entries(shapes).map(([kind, fields]) => [
    kind,
    Compile(Type.Object({ kind: Type.Literal(kind), ...fields }, isStrict)),
  ]),
);

/** A row of a file of events. */
export type EventRow = {
  readonly kind: string;
  readonly subject: string;
  readonly payload: string;
};

/** Whether the payload has all fields of its kind and no others, and the row is as `encodeEvent` and `getSubject` write it. */
export function isEventRow({ kind, subject, payload }: EventRow): boolean {
  try {
    const event = decodeEvent(payload);
    return (
      event.kind === kind &&
      checkers.get(kind)?.Check(event) === true &&
      getSubject(event) === subject &&
      encodeEvent(event) === payload
    );
  } catch {
    return false;
  }
}
