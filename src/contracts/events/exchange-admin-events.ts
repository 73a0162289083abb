import { type Decoder, eventDecoder } from "../decoder.ts";
import { topicAddress } from "../words.ts";

/** Pausing and unpausing of a whole exchange; the same in all generations. */
export const pauseDecoders: readonly Decoder[] = [
  eventDecoder("TradingPaused(address)", 1, (log) => ({
    kind: "trading_paused",
    by: topicAddress(log, 1),
  })),
  eventDecoder("TradingUnpaused(address)", 1, (log) => ({
    kind: "trading_unpaused",
    by: topicAddress(log, 1),
  })),
];

/** Administrative events of an exchange; the same in generations 1 and 2. */
export const exchangeAdminDecoders: readonly Decoder[] = [
  ...pauseDecoders,
  roleDecoder("NewAdmin(address,address)", "admin", true),
  roleDecoder("NewOperator(address,address)", "operator", true),
  roleDecoder("RemovedAdmin(address,address)", "admin", false),
  roleDecoder("RemovedOperator(address,address)", "operator", false),
];

function roleDecoder(signature: string, role: "admin" | "operator", granted: boolean): Decoder {
  return eventDecoder(signature, 2, (log) => ({
    kind: "role_changed",
    role,
    granted,
    account: topicAddress(log, 1),
    by: topicAddress(log, 2),
  }));
}
