import type { Connection } from "./connection.ts";
import type { StreamInbox } from "./stream-inbox.ts";
import { StreamSocket, type Subscribe } from "./stream-socket.ts";

/** The connections to the stream of one client. Its streams share them, because the service limits their number. */
export class StreamSockets {
  readonly #connection: Connection;
  #open: readonly StreamSocket[] = [];

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get hasKey(): boolean {
    return this.#connection.key !== null;
  }

  /** Subscribes on a connection that has room, or on a new one; with `isAlone`, on one of its own. */
  subscribe(request: Subscribe, isAlone: boolean): StreamInbox {
    this.#open = this.#open.filter(({ isClosed }) => !isClosed);
    const existing = isAlone
      ? undefined
      : this.#open.find((socket) => socket.hasRoomFor(request.channel));
    const socket = existing ?? this.#connect(!isAlone);
    return socket.subscribe(request);
  }

  #connect(isShared: boolean): StreamSocket {
    const url = this.#connection.getUrl("/v1/stream");
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const { key, streamIdleMs } = this.#connection;
    const idleMs = isShared ? streamIdleMs : 0;
    const socket = new StreamSocket({ url, key, isShared, idleMs });
    this.#open = [...this.#open, socket];
    return socket;
  }
}
