import { addAbortListener } from "node:events";
import { WebSocket } from "ws";
import { venueBackoff, venueLimits } from "../../base/config/venue-limits.ts";
import type { Clock } from "../../base/time/clock.ts";
import { backoffMs } from "../../base/time/retry.ts";

/** The URL of the market channel, and the callbacks of a connection. */
export type MarketSocketOptions = {
  readonly url: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onText: (text: string) => void;
  readonly onOpen: () => void;
  /** Called when the connection of these tokens is lost. It reconnects automatically. */
  readonly onDown: (assetIds: ReadonlySet<string>) => void;
};

/**
 * One connection to the venue's market channel, with the tokens it subscribes to. It reconnects after a
 * pause when it breaks or falls silent; the venue then sends every book again.
 */
export class MarketSocket {
  readonly assetIds = new Set<string>();
  readonly #options: MarketSocketOptions;
  readonly #closing = new AbortController();
  /** Tokens that are not subscribed on the open connection yet. */
  readonly #added = new Set<string>();
  #open: WebSocket | null = null;
  /** Messages about books, and when the last one came, in monotonic milliseconds. PONG says nothing about data. */
  #messages = 0;
  #dataAtMs = Number.NEGATIVE_INFINITY;

  private constructor(options: MarketSocketOptions) {
    this.#options = options;
    void this.#run();
  }

  static open(options: MarketSocketOptions): MarketSocket {
    return new MarketSocket(options);
  }

  get isOpen(): boolean {
    return this.#open !== null;
  }

  add(assetId: string): void {
    this.assetIds.add(assetId);
    // Tokens that are added in one turn of the event loop are sent in one message.
    if (this.#added.size === 0) setImmediate(() => this.#notifyAdded());
    this.#added.add(assetId);
  }

  remove(assetId: string): void {
    this.#added.delete(assetId);
    this.assetIds.delete(assetId);
    this.#send({ operation: "unsubscribe", assets_ids: [assetId] });
  }

  /**
   * Subscribes to a book again that should have come since `sinceMs`. A connection on which nothing came since then is
   * replaced.
   */
  resubscribe(assetId: string, sinceMs: number): void {
    if (this.#dataAtMs < sinceMs) return this.#open?.terminate();
    this.#send({ operation: "unsubscribe", assets_ids: [assetId] });
    this.add(assetId);
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(): Promise<void> {
    const { clock, random, onDown } = this.#options;
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted; ) {
      const messages = this.#messages;
      await this.#connect();
      onDown(this.assetIds);
      failures = this.#messages > messages ? 0 : failures + 1;
      await clock.sleep(backoffMs(failures, venueBackoff, random), signal).catch(() => {});
    }
  }

  async #connect(): Promise<void> {
    const socket = new WebSocket(this.#options.url, {
      perMessageDeflate: false, // costs more time than it saves on small messages
      maxPayload: venueLimits.messageBytesMax,
      handshakeTimeout: venueLimits.requestTimeoutMs,
      followRedirects: false,
    });
    const { clock } = this.#options;
    let observedAtMs = clock.monotonicMs();
    const ping = setInterval(() => {
      if (clock.monotonicMs() - observedAtMs > venueLimits.silenceMsMax) socket.terminate();
      else if (socket.readyState === WebSocket.OPEN) socket.send("PING");
    }, venueLimits.pingMs);
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    using _closing = addAbortListener(this.#closing.signal, () => socket.terminate());
    socket.on("open", () => this.#begin(socket));
    socket.on("message", (data) => {
      observedAtMs = clock.monotonicMs();
      const text = (data as Buffer).toString("utf8");
      if (text === "PONG") return;
      this.#messages += 1;
      this.#dataAtMs = observedAtMs;
      this.#options.onText(text);
    });
    socket.on("error", () => socket.terminate());
    socket.on("close", () => resolve());
    await gone;
    clearInterval(ping);
    this.#open = null;
  }

  #begin(socket: WebSocket): void {
    this.#open = socket;
    this.#options.onOpen();
    this.#added.clear();
    this.#send({ type: "market", assets_ids: [...this.assetIds], initial_dump: true });
  }

  #notifyAdded(): void {
    const assetIds = [...this.#added];
    this.#added.clear();
    if (assetIds.length > 0) this.#send({ operation: "subscribe", assets_ids: assetIds });
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    this.#open?.send(JSON.stringify(message));
  }
}
