import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { chainLimits } from "../../base/config/limits.ts";
import { EndpointError } from "../chain-errors.ts";

/** Reused buffers for bodies: allocating memory costs more than filling it. */
const spares: Buffer[] = [];
const sparesMax = 4;
const spareBytesMin = 256 * 1024;
const spareBytesMax = 16 * 1024 * 1024;

/** A complete body. */
export type Body = {
  readonly bytes: Buffer;
  /** Gives the memory to a later body. Nothing may read `bytes` afterwards. Optional. */
  readonly release: () => void;
};

/**
 * Reads a body to the end and decompresses gzip. The limit, `responseBytesMax`, applies to decompressed bytes.
 * Throws an `oversized` `EndpointError`, or the error that broke the connection.
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

/** Returns the buffer, or a larger copy if it has no room for `more` bytes. */
function withRoom(buffer: Buffer, bytes: number, more: number): Buffer {
  if (bytes + more <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.max(bytes + more, buffer.length * 2));
  buffer.copy(larger, 0, 0, bytes);
  return larger;
}

function decoded(response: IncomingMessage): Readable {
  const coding = response.headers["content-encoding"] ?? "";
  if (!/^(?:x-)?gzip$/i.test(coding)) return response;
  // An error of either stream ends both and reaches the reader of the second one.
  return pipeline(response, createGunzip(), () => {});
}
