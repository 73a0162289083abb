import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address } from "../base/ids.ts";
import type { LogText } from "../chain/parse/log-text.ts";
import type { ChainEvent, Undecodable } from "./events.ts";
import { readBytes } from "./words.ts";

/** How one event of one contract is recognized and read. */
export type Decoder = {
  /** Canonical: the hash of it is topic0. */
  readonly signature: string;
  readonly topic0: string;
  /** Topics including topic0. Events of equal name and hash differ in what they index. */
  readonly topicCount: number;
  /** Exact size of the data, or its minimum when the event has dynamic fields. */
  readonly dataBytes: number | { readonly min: number };
  /** Called only with the right counts; `undecodable` for values the rules forbid. */
  readonly read: (log: LogText, emitter: Address) => ChainEvent;
};

/** Defines an event, of whose arguments so many are indexed. */
export function eventOf(signature: string, indexed: number, read: Decoder["read"]): Decoder {
  const types = signature.slice(signature.indexOf("(") + 1, -1).split(",");
  const dynamic = types.filter((type) => type === "bytes" || type.endsWith("[]")).length;
  const headBytes = 32 * (types.length - indexed);
  return {
    signature,
    topic0: `0x${bytesToHex(keccak_256(utf8ToBytes(signature)))}`,
    topicCount: indexed + 1,
    dataBytes: dynamic === 0 ? headBytes : { min: headBytes + 32 * dynamic },
    read,
  };
}

/** What becomes of a log whose dynamic field, by its own offset or length, is not in its data. */
export const outsideData: Undecodable = {
  kind: "undecodable",
  reason: "a dynamic field points outside the data",
};

/** Reads an event with a text, the `bytes` whose offset is in word `index` of the data. */
export function withText(
  index: number,
  read: (log: LogText, text: string) => ChainEvent,
): Decoder["read"] {
  return (log) => {
    const text = readBytes(log, index);
    return text === null ? outsideData : read(log, text);
  };
}
