import { Readable } from "node:stream";
import type { FastifyInstance, preParsingHookHandler } from "fastify";
import { AppError } from "../../base/errors.ts";
import { invalid } from "../../base/input/compile-reader.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Bodies are JSON and nothing else. */
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

/** Node emits no end where no body was announced, and the framework would wait for it. */
const endOfNothing: preParsingHookHandler = (...[{ headers }, , body, done]) => {
  const isAnnounced = "content-length" in headers || "transfer-encoding" in headers;
  done(null, isAnnounced ? body : Readable.from([]));
};

/**
 * A body as JSON in valid UTF-8; `undefined` for an empty one. Throws `VALIDATION_ERROR`, also for a
 * field that is given twice: a proxy that checked the request may have read the other one.
 */
function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const { text, value } = read(bytes);
  // From here on `null` is a missing body, as in Fastify.
  if (value === null) throw invalid("body", "must be a JSON object");
  const repeated = repeatedField(text);
  if (repeated !== null) throw invalid(repeated.slice(0, 64), "is given more than once");
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

/** The texts and the signs that give valid JSON its shape. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** The first field that the outermost object of valid JSON has twice; fields hold no objects. */
function repeatedField(json: string): string | null {
  const names = new Set<string>();
  let depth = 0;
  let last = "";
  for (const [token] of json.matchAll(tokens)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (token === ":" && depth === 1) {
      // However it is spelled, with escapes or without.
      const name = JSON.parse(last) as string;
      if (names.has(name)) return name;
      names.add(name);
    }
    last = token;
  }
  return null;
}
