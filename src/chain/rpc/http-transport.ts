import * as http from "node:http";
import * as https from "node:https";
import { chainLimits } from "../../base/config/limits.ts";
import { toError } from "../../base/errors.ts";
import { parseRetryAfter } from "../../base/time/retry.ts";
import { EndpointError } from "../chain-errors.ts";
import { parseBody } from "../parse/parse-body.ts";
import { type Body, readResponseBody } from "../parse/response-body.ts";
import { classifyProviderError } from "./provider-messages.ts";
import type { Incoming, Outgoing, Transport } from "./transport.ts";

/** As much as Node reads in one go. The C library would return a larger block to the system whenever it is freed. */
const readBytes = 64 * 1024;

/**
 * Keep-alive connections that each read into one buffer, which the next read overwrites. By default Node allocates a
 * buffer for each read, which at full speed forces collections of the whole heap several times a second.
 */
class BufferedAgent extends http.Agent {
  override createConnection(options: http.ClientRequestArgs) {
    const buffer = Buffer.allocUnsafeSlow(readBytes);
    const callback = (bytes: number): boolean => {
      // With `onread`, Node emits no `data` event, but the HTTP parser listens to it.
      socket?.emit("data", buffer.subarray(0, bytes));
      return true;
    };
    const reading = { ...options, onread: { buffer, callback } };
    const socket = super.createConnection(reading);
    return socket;
  }
}

/** JSON-RPC over HTTP(S), on connections that are kept open. */
export class HttpTransport implements Transport {
  readonly isAnnouncing = false;
  readonly #url: URL;
  readonly #agent: http.Agent;

  private constructor(url: URL, agent: http.Agent) {
    this.#url = url;
    this.#agent = agent;
  }

  static open(url: URL): HttpTransport {
    const Agent = url.protocol === "https:" ? https.Agent : BufferedAgent;
    const maxSockets = chainLimits.concurrentRequestsMax;
    return new HttpTransport(url, new Agent({ keepAlive: true, maxSockets }));
  }

  async exchange(outgoing: Outgoing, signal: AbortSignal): Promise<Incoming> {
    try {
      const response = await this.#post(outgoing.body, signal);
      const body = await readResponseBody(response);
      const bytes = body.bytes.length;
      return { value: parseResponse(response, body), bytes };
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof EndpointError) throw thrown;
      throw new EndpointError("unavailable", toError(thrown).message, { cause: thrown });
    }
  }

  /** Does nothing: each exchange has its own connection. */
  replace(): void {}

  close(): void {
    this.#agent.destroy();
  }

  async #post(body: string, signal: AbortSignal): Promise<http.IncomingMessage> {
    const { request } = this.#url.protocol === "https:" ? https : http;
    const options = {
      method: "POST",
      agent: this.#agent,
      signal,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "accept-encoding": "gzip",
      },
    };
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      const sent = request(this.#url, options, (response) => {
        isAnswered = true;
        resolve(response);
      });
      sent.on("error", (error) => {
        // A node can close an idle connection while a request is on its way. Such a request is sent again.
        const isStale = sent.reusedSocket && !isAnswered && !signal.aborted;
        if (isStale) resolve(this.#post(body, signal));
        else reject(error);
      });
      // After status 101, Node closes the connection and emits neither a response nor an error.
      sent.on("close", () => reject(new Error("the connection was closed without an answer")));
      sent.end(body);
    });
  }
}

/** Statuses that refuse the body of a request, possibly because it is a batch. */
const rejections: ReadonlySet<number> = new Set([400, 405, 415, 422, 501]);
/** Too many requests, or a plan that is used up. */
const refusalsForRate: ReadonlySet<number> = new Set([402, 429]);

/**
 * Parses the JSON of a response. Some providers send JSON-RPC errors with status 400 or 500; then the error counts.
 * Some gateways send an error in their own format with status 200; then its text counts.
 */
function parseResponse(response: http.IncomingMessage, body: Body): unknown {
  const status = response.statusCode ?? 0;
  const retryAfterMs = parseRetryAfter(response.headers["retry-after"]);
  if (refusalsForRate.has(status)) {
    throw new EndpointError("rate_limited", `HTTP ${status}`, { retryAfterMs });
  }
  const isGood = status >= 200 && status < 300;
  const words = isGood ? "" : body.bytes.toString("utf8", 0, chainLimits.errorTextMax);
  const value = parseBody(body);
  if (isGood && value === undefined) {
    // The answer was cut off, or it is a page of a gateway.
    throw new EndpointError("unavailable", "an answer that is not JSON");
  }
  if (isReply(value)) return value;
  const message = `HTTP ${status} ${toWords(value, words)}`;
  const { kind } = classifyProviderError(status, message);
  if (kind === "too_large" || kind === "batch_too_large") return { error: { message } };
  if (kind === "rate_limited" || (status === 503 && retryAfterMs !== null)) {
    throw new EndpointError("rate_limited", `HTTP ${status}`, { retryAfterMs });
  }
  if (isGood) return value;
  throw new EndpointError(rejections.has(status) ? "rejected" : "unavailable", `HTTP ${status}`);
}

function isReply(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value) || "result" in value) return true;
  return "error" in value && typeof value.error === "object" && value.error !== null;
}

/** The error text of a gateway in its own format; empty for an HTML page. */
function toWords(value: unknown, text: string): string {
  if (typeof value !== "object" || value === null) return text.startsWith("<") ? "" : text;
  const { message, error } = value as { readonly message?: unknown; readonly error?: unknown };
  return [message, error].filter((part) => typeof part === "string").join(": ");
}
