import { assert } from "../../base/assert.ts";
import type { RawLog } from "../raw-log.ts";
import type { Body } from "./response-body.ts";

/** The length of `0x` and the 64 digits of a word. */
const wordLength = 66;
/** The JSON between two topics. */
const separator = '","';
/** The bytes from the start of one topic to the next. */
export const topicStride: number = wordLength + separator.length;

/** The body that logs are read from: usually the answer of a node. */
export class TextSource {
  readonly #release: () => void;
  #bytes: Buffer;
  #view: DataView;

  constructor({ bytes, release }: Body) {
    this.#release = release;
    this.#bytes = bytes;
    this.#view = toView(bytes);
  }

  get view(): DataView {
    return this.#view;
  }

  text(start: number, end: number): string {
    assert(end <= this.#bytes.length, "logs are read before their answer is released");
    return this.#bytes.toString("latin1", start, end);
  }

  /** Releases the body. Later reads of its logs throw, because their memory is reused for other answers. */
  close(): void {
    this.#bytes = Buffer.alloc(0);
    this.#view = toView(this.#bytes);
    this.#release();
  }
}

/** Where the hex text of topics and data is. Decoding from strings instead takes half as long again (decision 0012). */
export type LogText = {
  readonly source: TextSource;
  readonly topicCount: number;
  /** The offset of `0x` of the first topic. The next topics follow at every `topicStride`. */
  readonly topicsAt: number;
  /** The offset of `0x` of the data, and the offset where its digits end. */
  readonly dataAt: number;
  readonly dataEnd: number;
};

/** Writes the topics and data of a log, which are strings, as a `LogText`. */
export function writeLogText({ topics, data }: Pick<RawLog, "topics" | "data">): LogText {
  const text = topics.join(separator);
  const bytes = Buffer.from(text + data, "latin1");
  return {
    source: new TextSource({ bytes, release: () => {} }),
    topicCount: topics.length,
    topicsAt: 0,
    dataAt: text.length,
    dataEnd: bytes.length,
  };
}

function toView({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
