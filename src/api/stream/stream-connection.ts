import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Admission } from "../../access/admission.ts";
import type { Keys, VerifiedKey } from "../../access/api-key.ts";
import type { BoundedCounts } from "../../base/bounded-counts.ts";
import { AppError } from "../../base/errors.ts";
import { ipBucketOf } from "../../base/ip-address.ts";
import type { FrameEncoding } from "../../stream/frames/packet.ts";
import {
  type Carrier,
  closeCodes,
  Session,
  type SessionParts,
} from "../../stream/session/session.ts";

/** The parts that all connections of a server share. */
export type ConnectionParts = SessionParts & {
  readonly admission: Admission;
  readonly keys: Keys;
  readonly counts: BoundedCounts;
};

/** An upgraded connection. */
export type Accepted = {
  readonly socket: WebSocket;
  /** The raw socket below `socket`. Frames that subscribers share are written to it directly. */
  readonly wire: Duplex;
  readonly connectionId: string;
  readonly ip: string;
  readonly key: VerifiedKey | null;
  readonly encoding: FrameEncoding;
};

/** Carries one session over one WebSocket, and counts it against its key and address. */
export class StreamConnection implements Carrier {
  readonly session: Session;
  /** Resolves when the connection is closed and no longer counted. */
  readonly closed: Promise<void>;
  readonly #parts: ConnectionParts;
  readonly #accepted: Accepted;
  /** The counts that include this connection, to release on close. */
  readonly #places: string[] = [];

  private constructor(parts: ConnectionParts, accepted: Accepted) {
    this.#parts = parts;
    this.#accepted = accepted;
    const { connectionId, encoding, key } = accepted;
    const isPublic = parts.admission.isPublicRead;
    this.session = new Session(parts, this, { connectionId, encoding, key, isPublic });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#listen(resolve);
  }

  /** Opens the session, or closes it immediately when its key or IP has too many connections. */
  static open(parts: ConnectionParts, accepted: Accepted): StreamConnection {
    const connection = new StreamConnection(parts, accepted);
    if (!connection.#takePlaces(accepted.key)) {
      connection.session.close(closeCodes.tooMany, "too many connections");
    } else connection.session.open();
    return connection;
  }

  write(bytes: Buffer): boolean {
    const { wire } = this.#accepted;
    return wire.writable ? wire.write(bytes) : true;
  }

  close(code: number, reason: string): void {
    this.#accepted.socket.close(code, reason);
  }

  ping(): void {
    this.#accepted.socket.ping();
  }

  authenticate(value: string): VerifiedKey | AppError {
    const key = this.#parts.admission.authenticate(value, this.#accepted.ip);
    if (key instanceof AppError || this.#takeKeyPlace(key)) return key;
    return new AppError("RATE_LIMITED", "Too many connections");
  }

  /** Destroys the connection without waiting for the client's close frame. */
  terminate(): void {
    this.#accepted.socket.terminate();
  }

  #listen(onClosed: () => void): void {
    const { socket, wire } = this.#accepted;
    const { session } = this;
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      session.receive(isBinary ? null : data.toString("utf8"));
    });
    socket.on("pong", () => session.ponged());
    socket.on("ping", () => session.pinged());
    // The error is a reset or invalid frames. `close` follows.
    socket.on("error", () => {});
    wire.on("drain", () => session.drained());
    socket.on("close", () => {
      session.closed();
      for (const place of this.#places.splice(0)) this.#parts.counts.release(place);
      onClosed();
    });
  }

  #takePlaces(key: VerifiedKey | null): boolean {
    const { quotas } = this.#parts;
    const isRoom = this.#take(`ip ${ipBucketOf(this.#accepted.ip)}`, quotas.connectionsPerIp);
    return isRoom && (key === null || this.#takeKeyPlace(key));
  }

  #takeKeyPlace(key: VerifiedKey): boolean {
    return this.#take(`key ${key.id}`, this.#parts.quotas.connectionsPerKey[key.scope]);
  }

  #take(place: string, limit: number): boolean {
    const isTaken = this.#parts.counts.take(place, limit);
    if (isTaken) this.#places.push(place);
    return isTaken;
  }
}
