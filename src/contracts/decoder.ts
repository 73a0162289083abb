import type { Address } from "../base/ids.ts";
import type { LogText } from "../chain/parse/log-text.ts";
import type { ChainEvent } from "./events.ts";

/** How one event of one contract is recognized and read. */
export type Decoder = {
  /** Canonical signature, from which topic0 was computed; a test recomputes it. */
  readonly signature: string;
  readonly topic0: string;
  /** Topics including topic0. Events of equal name and hash differ in what they index. */
  readonly topicCount: number;
  /** Exact size of the data, or its minimum when the event has dynamic fields. */
  readonly dataBytes: number | { readonly min: number };
  /** Called only with the right counts; `undecodable` for values the rules forbid. */
  readonly read: (log: LogText, emitter: Address) => ChainEvent;
};
