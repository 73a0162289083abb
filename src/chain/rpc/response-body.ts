import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { chainLimits } from "../../base/config/limits.ts";
import { EndpointError } from "../chain-errors.ts";

/** Buffers that bodies are gathered in, again and again: fresh memory costs more than to fill it. */
const spares: Buffer[] = [];
const sparesMax = 4;
const spareBytesMin = 256 * 1024;
const spareBytesMax = 16 * 1024 * 1024;

/** A body that is there as a whole. */
export type Body = {
  readonly bytes: Buffer;
  /** Gives its memory to the next one: nothing may read it any more. Need not be called. */
  readonly release: () => void;
};

/**
 * Reads a body to the end, unpacked if it is gzip, but not beyond a bound: compression does not
 * help an answer past it. Throws an `oversized` `EndpointError`, or what broke the connection.
 */
export async function readResponseBody(response: IncomingMessage): Promise<Body> {
  const bytesMax = chainLimits.responseBytesMax;
  let buffer = spares.pop() ?? Buffer.allocUnsafeSlow(spareBytesMin);
  let bytes = 0;
  let isReleased = false;
  const release = (): void => {
    if (isReleased) return;
    isReleased = true;
    if (spares.length < sparesMax && buffer.length <= spareBytesMax) spares.push(buffer);
  };
  try {
    for await (const chunk of decoded(response) as AsyncIterable<Buffer>) {
      if (bytes + chunk.length > bytesMax) {
        response.destroy();
        throw new EndpointError("oversized", `an answer of more than ${bytesMax} bytes`);
      }
      buffer = withRoom(buffer, bytes, chunk.length);
      bytes += chunk.copy(buffer, bytes);
    }
    return { bytes: buffer.subarray(0, bytes), release };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

/** The buffer, or a larger one with the same bytes. */
function withRoom(buffer: Buffer, bytes: number, more: number): Buffer {
  if (bytes + more <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.max(bytes + more, buffer.length * 2));
  buffer.copy(larger, 0, 0, bytes);
  return larger;
}

function decoded(response: IncomingMessage): Readable {
  const coding = response.headers["content-encoding"] ?? "";
  if (!/^(?:x-)?gzip$/i.test(coding)) return response;
  // An error of either stream ends both, and reaches the reader of the last one.
  return pipeline(response, createGunzip(), () => {});
}
