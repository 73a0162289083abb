/** WebSocket frames (RFC 6455). They are encoded here so that many sockets can share one buffer. */
import { constants, deflateRawSync, deflateSync } from "node:zlib";

/** How a message is compressed: not, as a zlib stream in a binary message, or by the extension of the protocol. */
export type Compression = "none" | "zlib" | "permessage-deflate";

/** The first byte of the only frame of a message. */
const firstBytes: Readonly<Record<Compression, number>> = {
  none: 0x81,
  zlib: 0x82,
  "permessage-deflate": 0xc1,
};

/** The fastest level. Rows are mostly hex digits, which higher levels compress little better. */
const fast = { level: constants.Z_BEST_SPEED };

/** Encodes each text as a message of one frame, and concatenates the frames. */
export function encodeFrames(texts: readonly string[], compression: Compression): Buffer {
  const parts = texts.flatMap((text) => {
    const payload = toPayload(text, compression);
    return [getHead(payload.length, firstBytes[compression]), payload];
  });
  return Buffer.concat(parts);
}

function toPayload(text: string, compression: Compression): Buffer {
  switch (compression) {
    case "none":
      return Buffer.from(text);
    case "zlib":
      return deflateSync(text, fast);
    case "permessage-deflate": {
      // Without context takeover, so that all clients can share the result (RFC 7692, 7.2.1).
      const raw = deflateRawSync(text, { ...fast, finishFlush: constants.Z_SYNC_FLUSH });
      return raw.subarray(0, -4);
    }
  }
}

function getHead(length: number, firstByte: number): Buffer {
  if (length < 126) return Buffer.of(firstByte, length);
  if (length < 65_536) return Buffer.of(firstByte, 126, length >> 8, length & 255);
  const head = Buffer.alloc(10);
  head.set([firstByte, 127]);
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}
