import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address, Hash } from "../base/ids.ts";
import type { LogText } from "../chain/parse/log-text.ts";
import type { ChainEvent, Undecodable } from "./events.ts";
import { readBytes } from "./words.ts";

/** Recognizes and reads one event of one contract. */
export type Decoder = {
  /** The canonical signature; its hash is topic0. */
  readonly signature: string;
  readonly topic0: Hash;
  /** The number of topics, including topic0. Events with the same signature can index different arguments. */
  readonly topicCount: number;
  /** The exact size of the data in bytes, or its minimum when the event has dynamic fields. */
  readonly dataBytes: number | { readonly min: number };
  /** Reads a log with the right topic count and data size. Returns `undecodable` for values that the rules forbid. */
  readonly read: (log: LogText, emitter: Address) => ChainEvent;
};

/** Defines the decoder of an event; `indexed` is the number of its indexed arguments. */
export function eventDecoder(signature: string, indexed: number, read: Decoder["read"]): Decoder {
  const types = signature.slice(signature.indexOf("(") + 1, -1).split(",");
  const dynamic = types.filter((type) => type === "bytes" || type.endsWith("[]")).length;
  const headBytes = 32 * (types.length - indexed);
  return {
    signature,
    topic0: `0x${bytesToHex(keccak_256(utf8ToBytes(signature)))}` as Hash,
    topicCount: indexed + 1,
    dataBytes: dynamic === 0 ? headBytes : { min: headBytes + 32 * dynamic },
    read,
  };
}

/** The result for a log with a dynamic field whose offset or length exceeds the data. */
export const outsideData: Undecodable = {
  kind: "undecodable",
  reason: "a dynamic field points outside the data",
};

/** Returns a reader for an event with a text: the `bytes` whose offset is in word `index` of the data. */
export function withText(
  index: number,
  read: (log: LogText, text: string) => ChainEvent,
): Decoder["read"] {
  return (log) => {
    const text = readBytes(log, index);
    return text === null ? outsideData : read(log, text);
  };
}
