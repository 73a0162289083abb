import { Readable } from "node:stream";
import type { FastifyInstance, preParsingHookHandler } from "fastify";
import { AppError } from "../../base/errors.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { refuseRepeatedNames } from "../../base/input/repeated-names.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Makes an app read request bodies as JSON and refuse every other type. */
export function readJsonBodies(app: FastifyInstance): void {
  app.addHook("onRoute", (route) => {
    if (route.method !== "GET") route.preParsing = endOfNothing;
  });
  app.removeAllContentTypeParsers();
  const parseAs = "buffer";
  app.addContentTypeParser("application/json", { parseAs }, (request, bytes: Buffer, done) => {
    const { "content-encoding": coding = "identity" } = request.headers;
    if (coding.toLowerCase() !== "identity")
      throw new AppError(
        "UNSUPPORTED_MEDIA_TYPE",
        "Send the body as it is, without Content-Encoding",
      );
    done(null, parseJsonBody(bytes));
  });
}

/** Replaces a body that was not announced by an empty one: Node emits no `end` for it, and Fastify would wait. */
const endOfNothing: preParsingHookHandler = (...[{ headers }, , body, done]) => {
  const isAnnounced = "content-length" in headers || "transfer-encoding" in headers;
  done(null, isAnnounced ? body : Readable.from([]));
};

/**
 * Parses a body as JSON in UTF-8; `undefined` for an empty one. Throws `VALIDATION_ERROR` if it is invalid or has a
 * field twice.
 */
function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const { text, value } = read(bytes);
  // Fastify uses `null` for a missing body, so a JSON `null` is refused here.
  if (value === null) throw invalid("body", "must be a JSON object");
  refuseRepeatedNames(text);
  return value;
}

function read(bytes: Buffer): { readonly text: string; readonly value: unknown } {
  try {
    const text = utf8.decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    throw invalid("body", "must be valid JSON in UTF-8");
  }
}
