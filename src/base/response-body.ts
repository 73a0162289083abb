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

/**
 * Reads a body to the end, unpacked if it is gzip, but not beyond `bytesMax`: compression does not
 * help an answer past it. Throws `OversizedBodyError`, or what broke the connection.
 */
export async function readResponseBody(response: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of decoded(response)) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > bytesMax) {
      response.destroy();
      throw new OversizedBodyError(`an answer of more than ${bytesMax} bytes`);
    }
  }
  return Buffer.concat(chunks, bytes);
}

function decoded(response: Response): Readable {
  if (response.headers["content-encoding"] !== "gzip") return response;
  // An error of either stream ends both, and reaches the reader of the last one.
  return pipeline(response, createGunzip(), () => {});
}
