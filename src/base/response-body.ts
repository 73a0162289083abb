import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";

/** An answer of HTTP, as its body is read. */
type Response = Readable & {
  readonly headers: { readonly "content-encoding"?: string | undefined };
};

/** A body that is larger than its reader takes. */
export class OversizedBodyError extends Error {
  override name = "OversizedBodyError";
}

/** Buffers that bodies are gathered in, again and again: fresh memory costs more than to fill it. */
const spares: Buffer[] = [];
const sparesMax = 4;
const spareBytesMin = 256 * 1024;
const spareBytesMax = 16 * 1024 * 1024;

/**
 * Reads a body to the end, unpacked if it is gzip, but not beyond `bytesMax`: compression does not
 * help an answer past it. What `read` makes of it is answered; the body itself is used again as soon
 * as `read` returns. Throws `OversizedBodyError`, or what broke the connection.
 */
export async function readResponseBody<Result>(
  response: Response,
  bytesMax: number,
  read: (body: Buffer) => Result,
): Promise<Result> {
  let buffer = spares.pop() ?? Buffer.allocUnsafeSlow(spareBytesMin);
  let bytes = 0;
  try {
    for await (const chunk of decoded(response) as AsyncIterable<Buffer>) {
      if (bytes + chunk.length > bytesMax) {
        response.destroy();
        throw new OversizedBodyError(`an answer of more than ${bytesMax} bytes`);
      }
      buffer = withRoom(buffer, bytes, chunk.length);
      bytes += chunk.copy(buffer, bytes);
    }
    return read(buffer.subarray(0, bytes));
  } finally {
    if (spares.length < sparesMax && buffer.length <= spareBytesMax) spares.push(buffer);
  }
}

/** The buffer, or a larger one with the same bytes. */
function withRoom(buffer: Buffer, bytes: number, more: number): Buffer {
  if (bytes + more <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.max(bytes + more, buffer.length * 2));
  buffer.copy(larger, 0, 0, bytes);
  return larger;
}

function decoded(response: Response): Readable {
  const coding = response.headers["content-encoding"] ?? "";
  if (!/^(?:x-)?gzip$/i.test(coding)) return response;
  // An error of either stream ends both, and reaches the reader of the last one.
  return pipeline(response, createGunzip(), () => {});
}
