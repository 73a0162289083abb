import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { Admission, Caller } from "../../access/admission.ts";
import type { VerifiedKey } from "../../access/api-key.ts";
import type { Keys } from "../../access/keys.ts";
import type { BoundedCounts } from "../../base/bounded-counts.ts";
import { AppError } from "../../base/errors.ts";
import { toIpBucket } from "../../base/ip-address.ts";
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

/** An admitted request to upgrade to the stream. */
export type Upgrade = {
  readonly request: IncomingMessage;
  /** The raw socket below the WebSocket. Frames that subscribers share are written to it directly. */
  readonly socket: Socket;
  readonly head: Buffer;
  readonly caller: Caller;
  readonly requestId: string;
  /** Sends an error on the bare socket. */
  readonly refuse: (error: AppError, headers?: Readonly<Record<string, string>>) => void;
};

/** An upgrade that was accepted, with the frames that the client asked for. */
export type Accepted = {
  readonly upgrade: Upgrade;
  readonly webSocket: WebSocket;
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
  readonly #slots: string[] = [];

  private constructor(parts: ConnectionParts, accepted: Accepted) {
    this.#parts = parts;
    this.#accepted = accepted;
    const { encoding, upgrade } = accepted;
    const { caller, requestId: connectionId } = upgrade;
    const isPublic = parts.admission.isPublicRead;
    this.session = new Session(parts, this, { connectionId, encoding, key: caller.key, isPublic });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#listen(resolve);
  }

  /** Opens the session, or closes it immediately when its key or IP has too many connections. */
  static open(parts: ConnectionParts, accepted: Accepted): StreamConnection {
    const connection = new StreamConnection(parts, accepted);
    if (!connection.#acquireSlots(accepted.upgrade.caller)) {
      connection.session.close(closeCodes.tooMany, "too many connections");
    } else connection.session.open();
    return connection;
  }

  write(bytes: Buffer): boolean {
    const { socket } = this.#accepted.upgrade;
    return socket.writable ? socket.write(bytes) : true;
  }

  close(code: number, reason: string): void {
    this.#accepted.webSocket.close(code, reason);
  }

  ping(): void {
    this.#accepted.webSocket.ping();
  }

  authenticate(value: string): VerifiedKey | AppError {
    const key = this.#parts.admission.authenticate(value, this.#accepted.upgrade.caller.ip);
    if (key instanceof AppError || this.#acquireKeySlot(key)) return key;
    return new AppError("RATE_LIMITED", "Too many connections");
  }

  /** Destroys the connection without waiting for the client's close frame. */
  terminate(): void {
    this.#accepted.webSocket.terminate();
  }

  #listen(onClosed: () => void): void {
    const { webSocket, upgrade } = this.#accepted;
    const { session } = this;
    webSocket.on("message", (data: Buffer, isBinary: boolean) => {
      session.receive(isBinary ? null : data.toString("utf8"));
    });
    webSocket.on("pong", () => session.ponged());
    webSocket.on("ping", () => session.pinged());
    // The error is a reset or invalid frames. `close` follows.
    webSocket.on("error", () => {});
    upgrade.socket.on("drain", () => session.drained());
    webSocket.on("close", () => {
      session.closed();
      for (const slot of this.#slots.splice(0)) this.#parts.counts.release(slot);
      onClosed();
    });
  }

  #acquireSlots({ ip, key }: Caller): boolean {
    const { quotas } = this.#parts;
    const isRoom = this.#acquire(`ip ${toIpBucket(ip)}`, quotas.connectionsPerIp);
    return isRoom && (key === null || this.#acquireKeySlot(key));
  }

  #acquireKeySlot(key: VerifiedKey): boolean {
    return this.#acquire(`key ${key.id}`, this.#parts.quotas.connectionsPerKey[key.scope]);
  }

  #acquire(slot: string, limit: number): boolean {
    const isTaken = this.#parts.counts.acquire(slot, limit);
    if (isTaken) this.#slots.push(slot);
    return isTaken;
  }
}
