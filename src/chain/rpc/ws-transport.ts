import { WebSocket } from "ws";
import { chainLimits } from "../../base/config/limits.ts";
import { parseHash } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import { parseBody } from "../parse/parse-body.ts";
import { parseQuantity } from "../parse/parse-hex.ts";
import type { BlockRef } from "../raw-log.ts";
import { getId } from "./json-rpc.ts";
import type { Incoming, OnHead, OnLost, Outgoing, Transport } from "./transport.ts";

/** The id of the subscription request; exchanges count from 1. */
const subscribeId = 0;

/**
 * JSON-RPC over one WebSocket with a subscription to new heads. The next exchange replaces a broken socket. An aborted
 * exchange closes the socket if no message came meanwhile, since the socket may be half-open.
 */
export class WsTransport implements Transport {
  readonly #url: URL;
  readonly #onHead: OnHead;
  readonly #onLost: OnLost;
  readonly #pending = new Map<number, PromiseWithResolvers<Incoming>>();
  #socket: WebSocket | null = null;
  #isSubscribed = false;
  #messages = 0;

  private constructor(url: URL, onHead: OnHead, onLost: OnLost) {
    this.#url = url;
    this.#onHead = onHead;
    this.#onLost = onLost;
  }

  static open(url: URL, onHead: OnHead, onLost: OnLost): WsTransport {
    return new WsTransport(url, onHead, onLost);
  }

  get isAnnouncing(): boolean {
    return this.#isSubscribed;
  }

  async exchange(outgoing: Outgoing, signal: AbortSignal): Promise<Incoming> {
    signal.throwIfAborted();
    const socket = this.#socket ?? this.#connect();
    const pending = Promise.withResolvers<Incoming>();
    const messagesBefore = this.#messages;
    const giveUp = () => {
      pending.reject(signal.reason);
      if (this.#messages === messagesBefore) this.#drop(socket, "the socket does not answer");
    };
    signal.addEventListener("abort", giveUp, { once: true });
    this.#pending.set(outgoing.firstId, pending);
    this.#send(socket, outgoing.body);
    try {
      return await pending.promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
      this.#pending.delete(outgoing.firstId);
    }
  }

  replace(): void {
    if (this.#socket !== null) this.#drop(this.#socket, "the socket was replaced");
  }

  close(): void {
    this.replace();
  }

  #connect(): WebSocket {
    const socket = new WebSocket(this.#url, {
      perMessageDeflate: false, // costs more time than it saves on small messages
      maxPayload: chainLimits.responseBytesMax,
      handshakeTimeout: chainLimits.requestTimeoutMs,
      followRedirects: false,
    });
    this.#socket = socket;
    const subscribe = {
      jsonrpc: "2.0",
      id: subscribeId,
      method: "eth_subscribe",
      params: ["newHeads"],
    };
    socket.on("open", () => socket.send(JSON.stringify(subscribe)));
    socket.on("message", (data) => this.#onMessage(socket, data as Buffer));
    const messagesBefore = this.#messages;
    const lose = (reason: string) => {
      // A socket without a message is a failed exchange, which is counted where it fails.
      if (socket === this.#socket && this.#messages > messagesBefore) this.#onLost(reason);
      this.#drop(socket, reason);
    };
    socket.on("error", (error) => lose(error.message));
    socket.on("close", (code) => lose(`the socket was closed with code ${code}`));
    return socket;
  }

  #send(socket: WebSocket, body: string): void {
    const failed = (error?: Error | null) => {
      if (error) this.#drop(socket, error.message);
    };
    if (socket.readyState === WebSocket.CONNECTING) {
      socket.once("open", () => socket.send(body, failed));
    } else socket.send(body, failed);
  }

  #onMessage(socket: WebSocket, data: Buffer): void {
    if (socket !== this.#socket) return;
    this.#messages += 1;
    const value = parseBody({ bytes: data, release: () => {} });
    if (value === undefined) return this.#drop(socket, "a message that is not JSON");
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (isNotification(first)) {
      const head = parseAnnouncedHead(first);
      if (head !== null) this.#onHead(head);
    } else if (getId(first) === subscribeId) this.#isSubscribed = hasResult(first);
    else this.#resolve(value, data.length);
  }

  /** Resolves the exchange that a reply belongs to. Looks at all ids in it, as the order within a batch is free. */
  #resolve(value: unknown, bytes: number): void {
    const ids = (Array.isArray(value) ? value : [value]).map(getId);
    for (const id of ids) {
      const pending = this.#pending.get(id);
      if (pending !== undefined) {
        this.#pending.delete(id);
        pending.resolve({ value, bytes });
        return;
      }
    }
    // A node answers a batch that it cannot read without an id. With one exchange pending, the reply is for that one.
    // A reply with an id is late: its exchange has been aborted.
    const isForOnly = this.#pending.size === 1 && ids.every(Number.isNaN);
    const [only] = isForOnly ? this.#pending.values() : [];
    only?.resolve({ value, bytes });
  }

  #drop(socket: WebSocket, reason: string): void {
    socket.terminate();
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.#isSubscribed = false;
    for (const pending of this.#pending.values()) {
      pending.reject(new EndpointError("unavailable", reason));
    }
  }
}

type Notification = { readonly params?: { readonly result?: unknown } | null };

function isNotification(message: unknown): message is Notification {
  return typeof message === "object" && message !== null && "method" in message;
}

/** The block in a notification of the subscription; `null` for any other message. */
function parseAnnouncedHead(message: Notification): BlockRef | null {
  const header = (message.params?.result ?? {}) as { number?: unknown; hash?: unknown };
  const number = parseQuantity(header.number);
  const hash = parseHash(header.hash);
  return number === null || hash === null ? null : { number, hash };
}

function hasResult(message: unknown): boolean {
  return typeof message === "object" && message !== null && "result" in message;
}
