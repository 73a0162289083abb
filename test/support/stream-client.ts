/** A plain client of the stream that stores every frame. */
import assert from "node:assert/strict";
import { inflateSync } from "node:zlib";
import { WebSocket } from "ws";
import { waitFor } from "./wait-for.ts";

export type StreamFrame = Readonly<Record<string, unknown>> & { readonly type: string };

export class StreamClient {
  readonly #socket: WebSocket;
  /** All received frames, with arrays split up. */
  readonly frames: StreamFrame[] = [];
  /** How many data messages were binary, were arrays, and were texts. */
  readonly messages = { binary: 0, arrays: 0, texts: 0 };
  closed: { readonly code: number; readonly reason: string } | null = null;
  #taken = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer, isBinary) => this.#take(data, isBinary));
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    socket.on("error", () => {});
  }

  /** Connects to a service. `path` contains the query. */
  static async open(
    url: string,
    options: {
      readonly key?: string;
      readonly query?: string;
      readonly perMessageDeflate?: boolean;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<StreamClient> {
    const { key, query = "", perMessageDeflate = false } = options;
    const headers = { ...options.headers, ...(key === undefined ? {} : { "x-api-key": key }) };
    const address = `${url.replace("http", "ws")}/v1/stream${query}`;
    const socket = new WebSocket(address, { headers, perMessageDeflate });
    const client = new StreamClient(socket);
    const failed = Promise.withResolvers<never>();
    socket.once("error", failed.reject);
    await Promise.race([client.next("welcome"), failed.promise]);
    socket.removeListener("error", failed.reject);
    return client;
  }

  get socket(): WebSocket {
    return this.#socket;
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** Returns the next frame of a type, skipping the frames before it. */
  async next(type: string, where: Readonly<Record<string, unknown>> = {}): Promise<StreamFrame> {
    return waitFor(`a frame ${type}`, async () => {
      for (; this.#taken < this.frames.length; this.#taken += 1) {
        const frame = this.frames[this.#taken];
        if (frame?.type !== type) continue;
        if (Object.entries(where).some(([name, value]) => frame[name] !== value)) continue;
        this.#taken += 1;
        return frame;
      }
      assert(this.closed === null, `closed with ${JSON.stringify(this.closed)}`);
      return null;
    });
  }

  /** Subscribes, and resolves with the response. */
  async subscribe(
    channel: unknown,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<StreamFrame> {
    const id = `subscribe ${this.frames.length}`;
    this.send({ action: "subscribe", channel, id, ...more });
    const frame = await waitFor("an answer", async () => {
      assert(this.closed === null, `closed with ${JSON.stringify(this.closed)}`);
      return this.frames.find((one) => one["id"] === id) ?? null;
    });
    assert.equal(frame.type, "subscribed", JSON.stringify(frame));
    return frame;
  }

  /** Returns the events of one subscription, or of all. */
  events(subscriptionId?: unknown): StreamFrame[] {
    return this.frames.filter(
      (frame) =>
        frame.type === "event" &&
        (subscriptionId === undefined || frame["subscription_id"] === subscriptionId),
    );
  }

  /** Waits until a condition on the frames holds. */
  async until(what: string, holds: (client: StreamClient) => boolean): Promise<void> {
    await waitFor(what, async () => (holds(this) ? true : null));
  }

  async untilClosed(): Promise<{ readonly code: number; readonly reason: string }> {
    return waitFor("the close", async () => this.closed);
  }

  close(): void {
    this.#socket.close();
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (isBinary) this.messages.binary += 1;
    else this.messages.texts += 1;
    const text = (isBinary ? inflateSync(data) : data).toString();
    if (text === "PONG") {
      this.frames.push({ type: "PONG" });
      return;
    }
    const value = JSON.parse(text) as StreamFrame | StreamFrame[];
    if (Array.isArray(value)) {
      this.messages.arrays += 1;
      this.frames.push(...value);
    } else this.frames.push(value);
  }
}
