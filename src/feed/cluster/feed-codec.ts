/**
 * Messages of the feed as bytes: an HMAC, then compressed JSON, in which the rows of fills and of the ledger are hex digits. Others may
 * have access to Redis, so messages that were not written with our secret are ignored.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { feedLimits } from "../../base/config/cluster-limits.ts";
import { tryParseJson } from "../../base/json.ts";
import { encodeBalances, encodeFills, encodeLedger } from "../../storage/codec/encode-facts.ts";
import { decodeEvent, encodeEvent } from "../../storage/codec/event-codec.ts";
import { decodeBalances, decodeLedger } from "../../storage/codec/ledger-layout.ts";
import { decodeFills } from "../../storage/stored-fills.ts";
import type { FeedMessage, FeedPosition, LinkedBlock } from "./change-feed.ts";

/**
 * Raise this whenever older nodes could misread a message, and then let `decode` read the previous version too:
 * serving nodes are upgraded before indexers.
 */
const formatVersion = 6;

const codeBytes = 32;

/** Encodes and decodes messages. A message is only valid at its position. */
export class FeedCodec {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  encode(message: FeedMessage, position: FeedPosition): Buffer {
    const written = message.kind === "block" ? getWritten(message) : message;
    const packed = zstdCompressSync(JSON.stringify({ version: formatVersion, message: written }));
    return Buffer.concat([this.#toCode(packed, position), packed]);
  }

  /** Returns `null` for bytes not written with our secret for this position, or of another format version. */
  decode(bytes: Buffer, position: FeedPosition): FeedMessage | null {
    const packed = bytes.subarray(codeBytes);
    const code = bytes.subarray(0, codeBytes);
    if (code.length !== codeBytes || !timingSafeEqual(code, this.#toCode(packed, position))) {
      return null;
    }
    const unpacked = zstdDecompressSync(packed, { maxOutputLength: feedLimits.messageBytesMax });
    const written = tryParseJson(unpacked.toString()) as Written | null;
    if (written?.version !== formatVersion) return null;
    const { message } = written;
    return message.kind === "block" ? readBlock(message) : message;
  }

  #toCode(packed: Buffer, { epoch, term, index }: FeedPosition): Buffer {
    const code = createHmac("sha256", this.#secret).update(`${epoch} ${term}-${index} `);
    return code.update(packed).digest();
  }
}

type WrittenBlock = ReturnType<typeof getWritten>;

type Written = {
  readonly version: number;
  readonly message: Exclude<FeedMessage, LinkedBlock> | WrittenBlock;
};

function getWritten({ block, ...message }: LinkedBlock) {
  const fills = encodeFills(block.fills).toString("hex");
  const events = block.events.map(({ event, ...at }) => ({ ...at, event: encodeEvent(event) }));
  const ledger = encodeLedger(block.ledger).toString("hex");
  const balances = encodeBalances(block.balances).toString("hex");
  const supplies = encodeBalances(block.supplies).toString("hex");
  return { ...message, block: { ...block, fills, events, ledger, balances, supplies } };
}

function readBlock({ block, ...message }: WrittenBlock): LinkedBlock {
  const fills = decodeFills(Buffer.from(block.fills, "hex"));
  const events = block.events.map(({ event, ...at }) => ({ ...at, event: decodeEvent(event) }));
  const ledger = decodeLedger(Buffer.from(block.ledger, "hex"));
  const balances = decodeBalances(Buffer.from(block.balances, "hex"));
  const supplies = decodeBalances(Buffer.from(block.supplies, "hex"));
  return { ...message, block: { ...block, fills, events, ledger, balances, supplies } };
}
