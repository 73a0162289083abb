import type { LogText } from "../../chain/parse/log-text.ts";
import type { Decoder } from "../decoder.ts";
import type { ChainEvent } from "../events.ts";
import { topicAddress } from "../words.ts";

type Role = { role: "admin" | "operator"; granted: boolean };

/** Events of the people who run an exchange; the same in generations 1 and 2. */
export const exchangeAdminDecoders: readonly Decoder[] = [
  ...pauseDecoders(),
  roleDecoder(
    "NewAdmin(address,address)",
    "0xf9ffabca9c8276e99321725bcb43fb076a6c66a54b7f21c4e8146d8519b417dc",
    { role: "admin", granted: true },
  ),
  roleDecoder(
    "NewOperator(address,address)",
    "0xf1e04d73c4304b5ff164f9d10c7473e2a1593b740674a6107975e2a7001c1e5c",
    { role: "operator", granted: true },
  ),
  roleDecoder(
    "RemovedAdmin(address,address)",
    "0x787a2e12f4a55b658b8f573c32432ee11a5e8b51677d1e1e937aaf6a0bb5776e",
    { role: "admin", granted: false },
  ),
  roleDecoder(
    "RemovedOperator(address,address)",
    "0xf7262ed0443cc211121ceb1a80d69004f319245615a7488f951f1437fd91642c",
    { role: "operator", granted: false },
  ),
];

/** A halt of a whole exchange and its end; all generations. */
export function pauseDecoders(): readonly Decoder[] {
  return [
    {
      signature: "TradingPaused(address)",
      topic0: "0x203c4bd3e526634f661575359ff30de3b0edaba6c2cb1eac60f730b6d2d9d536",
      topicCount: 2,
      dataBytes: 0,
      read: (log) => ({ kind: "trading_paused", by: topicAddress(log, 1) }),
    },
    {
      signature: "TradingUnpaused(address)",
      topic0: "0xa1e8a54850dbd7f520bcc09f47bff152294b77b2081da545a7adf531b7ea283b",
      topicCount: 2,
      dataBytes: 0,
      read: (log) => ({ kind: "trading_unpaused", by: topicAddress(log, 1) }),
    },
  ];
}

function roleDecoder(signature: string, topic0: string, { role, granted }: Role): Decoder {
  const read = (log: LogText): ChainEvent => ({
    kind: "role_changed",
    role,
    granted,
    account: topicAddress(log, 1),
    by: topicAddress(log, 2),
  });
  return { signature, topic0, topicCount: 3, dataBytes: 0, read };
}
