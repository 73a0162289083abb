import { assert } from "../../base/assert.ts";
import type { RawLog } from "../raw-log.ts";

/** `0x` and the digits of a word. */
const wordLength = 66;
/** What is between the texts of two topics in JSON. */
const separator = '","';
/** From one topic to the next. */
export const topicStride: number = wordLength + separator.length;

/** The bytes that logs are read from, most often the answer of a node. */
export class TextSource {
  #bytes: Buffer;
  #view: DataView;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  get view(): DataView {
    return this.#view;
  }

  text(start: number, end: number): string {
    assert(end <= this.#bytes.length, "logs are read before their answer is released");
    return this.#bytes.toString("latin1", start, end);
  }

  /** From now on reading one of its logs throws, instead of returning what is written there next. */
  close(): void {
    this.#bytes = Buffer.alloc(0);
    this.#view = viewOf(this.#bytes);
  }
}

/** Where the hex text of topics and data is: making strings first costs half as much again (decision 0012). */
export type LogText = {
  readonly source: TextSource;
  readonly topicCount: number;
  /** Where `0x` of the first topic is; the next are `topicStride` behind each other. */
  readonly topicsAt: number;
  /** Where `0x` of the data is, and where its digits end. */
  readonly dataAt: number;
  readonly dataEnd: number;
};

/** The same of a log that is there as strings. */
export function writeLogText({ topics, data }: Pick<RawLog, "topics" | "data">): LogText {
  const text = topics.join(separator);
  const bytes = Buffer.from(text + data, "latin1");
  return {
    source: new TextSource(bytes),
    topicCount: topics.length,
    topicsAt: 0,
    dataAt: text.length,
    dataEnd: bytes.length,
  };
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
