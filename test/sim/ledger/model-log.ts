/** Encodes the logs of the model's contracts. */
import { toEventSelector } from "viem";
import type { Address, Hash } from "../../../src/base/ids.ts";
import type { RawLog } from "../../../src/chain/raw-log.ts";

export type LogContent = Pick<RawLog, "address" | "topics" | "data">;

/** A word: a number, or hex that is padded on the left. Ids of fewer bytes are given as whole words. */
export type Word = string | bigint | number;

const selectors = new Map<string, Hash>();

/** Encodes an event. A list in `data` is a dynamic array; an empty one also stands for empty bytes. */
export function encodeLog(
  address: Address,
  signature: string,
  {
    topics,
    data,
  }: { readonly topics: readonly Word[]; readonly data: readonly (Word | readonly Word[])[] },
): LogContent {
  const selector = selectors.get(signature) ?? (toEventSelector(signature) as Hash);
  selectors.set(signature, selector);
  const head: string[] = [];
  const tail: string[] = [];
  for (const value of data) {
    if (!Array.isArray(value)) head.push(toWord(value as Word));
    else {
      head.push(toWord(32 * (data.length + tail.length)));
      tail.push(toWord(value.length), ...(value as readonly Word[]).map(toWord));
    }
  }
  return {
    address,
    topics: [selector, ...topics.map((topic) => `0x${toWord(topic)}` as Hash)],
    data: `0x${[...head, ...tail].join("")}`,
  };
}

function toWord(value: Word): string {
  return (typeof value === "string" ? value.slice(2) : value.toString(16)).padStart(64, "0");
}
