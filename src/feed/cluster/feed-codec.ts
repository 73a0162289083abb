/**
 * Messages of the feed as bytes: an HMAC, then JSON and rows of fills, compressed. Others may have access to Redis, so
 * messages that were not written with our secret are ignored.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { feedLimits } from "../../base/config/cluster-limits.ts";
import type { BlockFacts, LocatedEvent } from "../../market/block-facts.ts";
import { encodeFills } from "../../storage/codec/encode-facts.ts";
import { decodeEvent, encodeEvent } from "../../storage/codec/event-codec.ts";
import { decodeFills } from "../../storage/stored-fills.ts";
import type { FeedMessage, FeedPosition } from "./change-feed.ts";

/**
 * Raise this whenever older nodes could misread a message, and then let `decode` read the previous version too:
 * serving nodes are upgraded before indexers.
 */
const formatVersion = 2;

const codeBytes = 32;
const lengthBytes = 4;

/** Encodes and decodes messages. A message is only valid at its position. */
export class FeedCodec {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  encode(message: FeedMessage, position: FeedPosition): Buffer {
    const { text, fills } = partsOf(message);
    const json = Buffer.from(text);
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32LE(json.length);
    const packed = zstdCompressSync(Buffer.concat([length, json, fills]));
    return Buffer.concat([this.#codeOf(packed, position), packed]);
  }

  /** Returns `null` for bytes not written with our secret for this position, or of another format version. */
  decode(bytes: Buffer, position: FeedPosition): FeedMessage | null {
    const packed = bytes.subarray(codeBytes);
    const code = bytes.subarray(0, codeBytes);
    if (code.length !== codeBytes || !timingSafeEqual(code, this.#codeOf(packed, position))) {
      return null;
    }
    const unpacked = zstdDecompressSync(packed, { maxOutputLength: feedLimits.messageBytesMax });
    const end = lengthBytes + unpacked.readUInt32LE(0);
    const written = JSON.parse(unpacked.toString("utf8", lengthBytes, end)) as Written;
    if (written.version !== formatVersion) return null;
    const { message } = written;
    if (message.kind !== "block") return message;
    return { ...message, block: blockOf(message.block, unpacked.subarray(end)) };
  }

  #codeOf(packed: Buffer, { epoch, term, index }: FeedPosition): Buffer {
    const code = createHmac("sha256", this.#secret).update(`${epoch} ${term}-${index} `);
    return code.update(packed).digest();
  }
}

type WrittenBlock = Omit<BlockFacts, "fills" | "events"> & {
  readonly events: readonly (Omit<LocatedEvent, "event"> & { readonly event: string })[];
};

type Written = {
  readonly version: number;
  readonly message:
    | Exclude<FeedMessage, { kind: "block" }>
    | (Omit<Extract<FeedMessage, { kind: "block" }>, "block"> & { readonly block: WrittenBlock });
};

function partsOf(message: FeedMessage): { readonly text: string; readonly fills: Buffer } {
  if (message.kind !== "block") return { text: asText(message), fills: Buffer.of() };
  const { fills, events, ...block } = message.block;
  const written = {
    ...block,
    events: events.map((located) => ({ ...located, event: encodeEvent(located.event) })),
  };
  return { text: asText({ ...message, block: written }), fills: encodeFills(fills) };
}

function asText(message: Written["message"]): string {
  return JSON.stringify({ version: formatVersion, message } satisfies Written);
}

function blockOf({ events, ...block }: WrittenBlock, fills: Buffer): BlockFacts {
  return {
    ...block,
    fills: decodeFills(fills),
    events: events.map((located) => ({ ...located, event: decodeEvent(located.event) })),
  };
}
