/** WebSocket frames (RFC 6455). They are encoded here so that many sockets can share one buffer. */

/** The payload of a frame. `deflated` is text that permessage-deflate has compressed. */
export type FrameKind = "text" | "binary" | "deflated";

const firstBytes: Readonly<Record<FrameKind, number>> = {
  text: 0x81,
  binary: 0x82,
  deflated: 0xc1,
};

/** Encodes a message as a single frame. */
export function encodeFrame(kind: FrameKind, payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(headLengthOf(payload.length) + payload.length);
  const at = writeHead(frame, { at: 0, kind, length: payload.length });
  payload.copy(frame, at);
  return frame;
}

/** Encodes each text message as one frame, and concatenates the frames. */
export function encodeTexts(texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const whole = lengths.reduce((sum, length) => sum + headLengthOf(length) + length, 0);
  const frames = Buffer.allocUnsafe(whole);
  let at = 0;
  for (const [index, text] of texts.entries()) {
    const length = lengths[index] ?? 0;
    at = writeHead(frames, { at, kind: "text", length });
    // ASCII text has the same bytes in both encodings, and `latin1` is a plain copy.
    at += frames.write(text, at, length === text.length ? "latin1" : "utf8");
  }
  return frames;
}

function headLengthOf(length: number): number {
  return length < 126 ? 2 : length < 65_536 ? 4 : 10;
}

/** Writes the header of a frame with a payload of `length` bytes. Returns the offset of the payload. */
function writeHead(
  frames: Buffer,
  { at, kind, length }: { at: number; kind: FrameKind; length: number },
): number {
  const headLength = headLengthOf(length);
  frames[at] = firstBytes[kind];
  if (headLength === 2) frames[at + 1] = length;
  else if (headLength === 4) {
    frames[at + 1] = 126;
    frames.writeUInt16BE(length, at + 2);
  } else {
    frames[at + 1] = 127;
    frames.writeBigUInt64BE(BigInt(length), at + 2);
  }
  return at + headLength;
}
