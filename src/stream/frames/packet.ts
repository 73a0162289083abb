import { streamLimits } from "../../base/config/limits.ts";
import { type Compression, encodeFrames } from "./frame-bytes.ts";

/** The encoding that a connection has chosen for its events. */
export type FrameEncoding = {
  /** Whether events are grouped into JSON arrays. */
  readonly batch: boolean;
  readonly compress: Compression;
};

const unplaced = { firstSeq: Number.POSITIVE_INFINITY, lastSeq: Number.NEGATIVE_INFINITY };

/** Events that are sent together. They are encoded once for each `FrameEncoding` in use. */
export class Packet {
  static #made = 0;
  readonly id: number;
  /** The positions of the first and the last event; infinite for events without a position in the log. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly #texts: readonly string[];
  readonly #bytes = new Map<string, Buffer>();

  constructor(texts: readonly string[], { firstSeq, lastSeq } = unplaced) {
    Packet.#made += 1;
    this.id = Packet.#made;
    this.#texts = texts;
    this.firstSeq = firstSeq;
    this.lastSeq = lastSeq;
  }

  get count(): number {
    return this.#texts.length;
  }

  bytes({ batch, compress }: FrameEncoding): Buffer {
    const name = `${batch} ${compress}`;
    const cached = this.#bytes.get(name);
    if (cached !== undefined) return cached;
    const bytes = encodeFrames(batch ? toArrays(this.#texts) : this.#texts, compress);
    this.#bytes.set(name, bytes);
    return bytes;
  }

  /** Joins packets in their order. At least one is required. A single one stays itself. */
  static join(packets: readonly Packet[]): Packet {
    const [only] = packets;
    if (packets.length === 1 && only !== undefined) return only;
    const texts = packets.flatMap((packet) => packet.#texts);
    const firstSeq = Math.min(...packets.map((packet) => packet.firstSeq));
    const lastSeq = Math.max(...packets.map((packet) => packet.lastSeq));
    return new Packet(texts, { firstSeq, lastSeq });
  }
}

function toArrays(texts: readonly string[]): string[] {
  const arrays: string[] = [];
  for (let from = 0; from < texts.length; from += streamLimits.batchEventsMax) {
    arrays.push(`[${texts.slice(from, from + streamLimits.batchEventsMax).join(",")}]`);
  }
  return arrays;
}
