import type { LogText } from "../../chain/parse/log-text.ts";
import { type Decoder, eventOf } from "../decoder.ts";
import type { ChainEvent } from "../events.ts";
import { topicAddress } from "../words.ts";

type Role = { role: "admin" | "operator"; granted: boolean };

/** Events of the people who run an exchange; the same in generations 1 and 2. */
export const exchangeAdminDecoders: readonly Decoder[] = [
  ...pauseDecoders(),
  roleDecoder("NewAdmin(address,address)", { role: "admin", granted: true }),
  roleDecoder("NewOperator(address,address)", { role: "operator", granted: true }),
  roleDecoder("RemovedAdmin(address,address)", { role: "admin", granted: false }),
  roleDecoder("RemovedOperator(address,address)", { role: "operator", granted: false }),
];

/** A halt of a whole exchange and its end; all generations. */
export function pauseDecoders(): readonly Decoder[] {
  return [
    eventOf("TradingPaused(address)", 1, (log) => ({
      kind: "trading_paused",
      by: topicAddress(log, 1),
    })),
    eventOf("TradingUnpaused(address)", 1, (log) => ({
      kind: "trading_unpaused",
      by: topicAddress(log, 1),
    })),
  ];
}

function roleDecoder(signature: string, { role, granted }: Role): Decoder {
  const read = (log: LogText): ChainEvent => ({
    kind: "role_changed",
    role,
    granted,
    account: topicAddress(log, 1),
    by: topicAddress(log, 2),
  });
  return eventOf(signature, 2, read);
}
