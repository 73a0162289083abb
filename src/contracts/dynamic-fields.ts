import type { LogText } from "../chain/parse/log-text.ts";
import type { Decoder } from "./decoder.ts";
import type { ChainEvent, Undecodable } from "./events.ts";
import { readBytes } from "./words.ts";

/** What becomes of a log whose dynamic field, by its own offset or length, is not in its data. */
export const outsideData: Undecodable = {
  kind: "undecodable",
  reason: "a dynamic field points outside the data",
};

/** Reads an event with a text, the `bytes` whose offset stands in word `index` of the data. */
export function withText(
  index: number,
  read: (log: LogText, text: string) => ChainEvent,
): Decoder["read"] {
  return (log) => {
    const text = readBytes(log, index);
    return text === null ? outsideData : read(log, text);
  };
}
