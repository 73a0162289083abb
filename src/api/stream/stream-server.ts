import type { IncomingMessage } from "node:http";
import { type Static, Type } from "typebox";
import { WebSocket, WebSocketServer } from "ws";
import { BoundedCounts } from "../../base/bounded-counts.ts";
import { streamLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { compileReader, invalid } from "../../base/input/compile-reader.ts";
import { BatchFlusher } from "../../stream/session/batch-flusher.ts";
import { closeCodes, type Session } from "../../stream/session/session.ts";
import { answerHeaders } from "../http/answer-headers.ts";
import { toAppError } from "../route/error-answer.ts";
import { defineRoute, type Route } from "../route/route.ts";
import {
  type Accepted,
  type ConnectionParts,
  StreamConnection,
  type Upgrade,
} from "./stream-connection.ts";

const streamPath = "/v1/stream";

const streamParameters = Type.Object({
  compress: Type.Enum(["none", "zlib", "permessage-deflate"], { default: "none" }),
  batch: Type.Enum(["0", "1"], { default: "0" }),
});

type StreamParameters = Static<typeof streamParameters>;

type StreamServerParts = Omit<ConnectionParts, "flusher" | "counts">;

/** Closes with our policy code after a frame that is too large, where `ws` would use 1009. */
class StreamWebSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    if (code === 1009) super.close(closeCodes.policy, "a frame over 64 KiB");
    else super.close(code, reason);
  }
}

/** The server of the stream: takes upgrades to WebSocket, carries sessions and runs their timers. */
export class StreamServer {
  readonly #parts: ConnectionParts;
  readonly #connections = new Set<StreamConnection>();
  readonly #readQuery = compileReader(streamParameters, "query");
  readonly #timers: readonly NodeJS.Timeout[];
  #isDraining = false;

  private constructor(parts: StreamServerParts) {
    const { keys } = parts;
    this.#parts = { ...parts, flusher: new BatchFlusher(), counts: new BoundedCounts() };
    // Closes the sessions of a key that ends, before its revocation is answered.
    keys.onEnded(() => this.#forEach((session) => session.checkKey()));
    this.#timers = [
      setInterval(() => this.#forEach((session) => session.tick()), streamLimits.tickMs),
      setInterval(() => this.#forEach((session) => session.heartbeat()), streamLimits.heartbeatMs),
    ];
  }

  static open(parts: StreamServerParts): StreamServer {
    return new StreamServer(parts);
  }

  /** Returns whether a request is for the stream. All others are handled as if they did not ask for an upgrade. */
  accepts({ method, url = "", headers }: IncomingMessage): boolean {
    const isWebSocket = headers.upgrade?.toLowerCase() === "websocket";
    return isWebSocket && method === "GET" && url.replace(/\?.*/s, "") === streamPath;
  }

  take(upgrade: Upgrade): void {
    const { request, caller, refuse } = upgrade;
    if (caller.refusal !== null) return refuse(caller.refusal);
    const unavailable = { publicMessage: "The service is stopping", retryAfterSeconds: 1 };
    if (this.#isDraining) return refuse(new AppError("SERVICE_UNAVAILABLE", unavailable));
    // `ws` would accept version 8 too, and refuse others without naming the version to use (RFC 6455, 4.4).
    if (request.headers["sec-websocket-version"] !== version) {
      return refuse(invalid("sec-websocket-version", `must be ${version}`), {
        "sec-websocket-version": version,
      });
    }
    try {
      const [, text = ""] = /\?(.*)$/s.exec(request.url ?? "") ?? [];
      const query = this.#readQuery(text) as StreamParameters;
      if (query.compress === "permessage-deflate" && !offersDeflate(request))
        throw invalid("compress", needsDeflate);
      this.#answer(upgrade, query);
    } catch (thrown) {
      refuse(toAppError(thrown));
    }
  }

  /** Closes all sessions so that clients reconnect, and waits up to `closeMs` for them to disconnect. */
  async close(): Promise<void> {
    this.#isDraining = true;
    for (const timer of this.#timers) clearInterval(timer);
    const reason = "draining; reconnect after a random 0 to 10 s";
    this.#forEach((session) => session.close(closeCodes.draining, reason));
    const deadline = setTimeout(() => {
      for (const connection of this.#connections) connection.terminate();
    }, streamLimits.closeMs);
    await Promise.all([...this.#connections].map(({ closed }) => closed));
    clearTimeout(deadline);
    this.#parts.flusher.close();
    await this.#parts.hub.close();
  }

  /** Responds with our headers next to those of `ws`, or with an error of `ws` in our shape. */
  #answer(upgrade: Upgrade, query: StreamParameters): void {
    const { request, socket, head, caller, requestId, refuse } = upgrade;
    const perMessageDeflate = query.compress === "permessage-deflate" && deflateOptions;
    const handshake = new WebSocketServer({ ...socketOptions, perMessageDeflate });
    handshake.on("headers", (lines) => {
      const headers = answerHeaders(caller, requestId);
      for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    });
    handshake.on("wsClientError", ({ message }) =>
      refuse(new AppError("VALIDATION_ERROR", message)),
    );
    const encoding = { batch: query.batch === "1", compress: query.compress };
    handshake.handleUpgrade(request, socket, head, (webSocket) => {
      void this.#serve({ upgrade, webSocket, encoding });
    });
  }

  async #serve(accepted: Accepted): Promise<void> {
    const connection = StreamConnection.open(this.#parts, accepted);
    this.#connections.add(connection);
    this.#parts.meter.connections += 1;
    await connection.closed;
    this.#connections.delete(connection);
    this.#parts.meter.connections -= 1;
  }

  #forEach(act: (session: Session) => void): void {
    for (const { session } of this.#connections) act(session);
  }
}

/** The route of the stream. Upgrades never reach its handler, which refuses a request without one. */
export function openStream(): Route {
  return defineRoute({
    path: streamPath,
    access: "public",
    upgrade: "websocket",
    statuses: [101],
    summary: "Open the stream",
    description:
      "A WebSocket with trades, resolutions, markets, candles, prices and books as they happen, from any position on",
    querystring: streamParameters,
    errors: ["UNAUTHORIZED", "SERVICE_UNAVAILABLE"],
    response: Type.Object({}),
    handler: () => {
      throw invalid("upgrade", "must be websocket to open the stream");
    },
  });
}

function offersDeflate({ headers }: IncomingMessage): boolean {
  return headers["sec-websocket-extensions"]?.includes("permessage-deflate") === true;
}

/** The only version of the WebSocket protocol. */
const version = "13";

const needsDeflate = "needs a client that offers the extension permessage-deflate";

const socketOptions = {
  noServer: true,
  clientTracking: false,
  maxPayload: streamLimits.frameBytesMax,
  // Enough for a slow client to read everything that is queued before the close frame with its last position.
  closeTimeout: streamLimits.closePatienceMs,
  WebSocket: StreamWebSocket,
} as const;

/** Each message is compressed without context of earlier ones, in both directions, so connections keep no state. */
const deflateOptions = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  serverMaxWindowBits: 15,
  concurrencyLimit: 4,
} as const;
