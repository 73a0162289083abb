import { constants, deflateRawSync, deflateSync } from "node:zlib";
import { streamLimits } from "../../base/config/limits.ts";
import { encodeFrame, encodeTexts } from "./frame-bytes.ts";

/** How a connection wants its data. */
export type Form = {
  /** Data frames as arrays. */
  readonly batch: boolean;
  readonly compress: "none" | "zlib" | "permessage-deflate";
};

/** Events that are sent together, encoded once in each form that a connection needs. */
export class Packet {
  /** Where the first and the last of them are. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly #texts: readonly string[];
  readonly #bytes = new Map<string, Buffer>();

  constructor(texts: readonly string[], interval: { firstSeq: number; lastSeq: number }) {
    this.#texts = texts;
    this.firstSeq = interval.firstSeq;
    this.lastSeq = interval.lastSeq;
  }

  get count(): number {
    return this.#texts.length;
  }

  bytes({ batch, compress }: Form): Buffer {
    const name = `${batch} ${compress}`;
    const known = this.#bytes.get(name);
    if (known !== undefined) return known;
    const messages = batch ? arraysOf(this.#texts) : this.#texts;
    const bytes =
      compress === "none"
        ? encodeTexts(messages)
        : Buffer.concat(messages.map((text) => encodeDeflated(text, compress)));
    this.#bytes.set(name, bytes);
    return bytes;
  }

  /** Texts that have no place in the log. */
  static unplaced(texts: readonly string[]): Packet {
    return new Packet(texts, {
      firstSeq: Number.POSITIVE_INFINITY,
      lastSeq: Number.NEGATIVE_INFINITY,
    });
  }

  /** One packet of several, at least one, in their order. */
  static join(packets: readonly Packet[]): Packet {
    const texts = packets.flatMap((packet) => packet.#texts);
    const firstSeq = Math.min(...packets.map((packet) => packet.firstSeq));
    const lastSeq = Math.max(...packets.map((packet) => packet.lastSeq));
    return new Packet(texts, { firstSeq, lastSeq });
  }
}

function arraysOf(texts: readonly string[]): string[] {
  const arrays: string[] = [];
  for (let from = 0; from < texts.length; from += streamLimits.batchEventsMax) {
    arrays.push(`[${texts.slice(from, from + streamLimits.batchEventsMax).join(",")}]`);
  }
  return arrays;
}

function encodeDeflated(text: string, compress: Exclude<Form["compress"], "none">): Buffer {
  switch (compress) {
    case "zlib":
      return encodeFrame("binary", deflateSync(text, fast));
    case "permessage-deflate": {
      // Each message on its own, so that one result fits all clients (RFC 7692, 7.2.1).
      const raw = deflateRawSync(text, { ...fast, finishFlush: constants.Z_SYNC_FLUSH });
      return encodeFrame("deflated", raw.subarray(0, -4));
    }
  }
}

/** The fastest level: rows are mostly hex digits, of which higher levels save little more. */
const fast = { level: constants.Z_BEST_SPEED };
