/**
 * Frames as they are on the wire (RFC 6455), made here so that one buffer can be written to any
 * number of sockets. Server frames are not masked.
 */

/** What a frame holds; a `deflated` one is text that went through permessage-deflate. */
export type FrameKind = "text" | "binary" | "deflated";

const firstBytes: Readonly<Record<FrameKind, number>> = {
  text: 0x81,
  binary: 0x82,
  deflated: 0xc1,
};

/** One whole message as one frame. */
export function encodeFrame(kind: FrameKind, payload: Buffer): Buffer {
  const { length } = payload;
  const headLength = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headLength + length);
  frame[0] = firstBytes[kind];
  if (headLength === 2) frame[1] = length;
  else if (headLength === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  payload.copy(frame, headLength);
  return frame;
}

/** A text message as one frame. */
export function encodeText(text: string): Buffer {
  return encodeFrame("text", Buffer.from(text));
}
