import type { ControlFrame, StreamFrame } from "./stream-frames.ts";

/** Any frame of the service. */
export type AnyFrame = StreamFrame<unknown> | ControlFrame;

/** The close code and reason of a connection. The code is 1006 if the connection broke. */
export type Closing = { readonly code: number; readonly reason: string };

/** The most frames that wait for the reader. Beyond that the connection is closed, and resumed later. */
const waitingMax = 20_000;
/** The number of missing heartbeats after which a silent connection is closed. */
const missedHeartbeatsMax = 2.5;
const firstSilenceMs = 20_000;

/** One connection to the stream. It queues frames until they are read, and closes when too many wait. */
export class StreamSocket {
  readonly #socket: WebSocket;
  readonly #frames: AnyFrame[] = [];
  #closing: Closing | null = null;
  #wake: (() => void) | null = null;
  #silenceMs = firstSilenceMs;
  #watch: ReturnType<typeof setTimeout> | undefined;

  /** Sends the frames of `hello` when the socket opens. */
  constructor(url: URL, hello: readonly object[]) {
    if (globalThis.WebSocket === undefined) throw new Error("the stream needs Node 22 or later");
    this.#socket = new WebSocket(url);
    this.#socket.addEventListener("open", () => {
      if (this.#closing !== null) return this.#socket.close();
      for (const frame of hello) this.#socket.send(JSON.stringify(frame));
    });
    this.#socket.addEventListener("message", ({ data }) => this.#take(String(data)));
    this.#socket.addEventListener("close", ({ code, reason }) => this.#end({ code, reason }));
    this.#socket.addEventListener("error", () => this.#end({ code: 1006, reason: "" }));
    this.#watchSilence();
  }

  /** Returns the next frame; after the last one, how the connection closed. */
  async next(): Promise<AnyFrame | Closing> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) return frame;
      if (this.#closing !== null) return this.#closing;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Closes the connection. Unread frames are dropped. */
  close(reason: string): void {
    this.#frames.length = 0;
    this.#end({ code: 1000, reason });
  }

  #take(text: string): void {
    if (this.#closing !== null) return;
    this.#watchSilence();
    let frame: AnyFrame;
    try {
      frame = JSON.parse(text) as AnyFrame;
    } catch {
      return this.#end({ code: 1007, reason: "what came is not JSON" });
    }
    if (frame.type === "welcome") {
      this.#silenceMs = frame.heartbeat_seconds * 1000 * missedHeartbeatsMax;
    }
    this.#frames.push(frame);
    if (this.#frames.length > waitingMax) this.#end({ code: 4002, reason: "the reader is slow" });
    this.#wake?.();
  }

  #watchSilence(): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      this.#end({ code: 1006, reason: "the service fell silent" });
    }, this.#silenceMs);
  }

  #end(closing: Closing): void {
    clearTimeout(this.#watch);
    if (this.#closing !== null) return;
    this.#closing = closing;
    // A browser logs an error if a socket is closed while it opens; the "open" listener closes it then.
    if (this.#socket.readyState !== WebSocket.CONNECTING) this.#socket.close();
    this.#wake?.();
  }
}
