import type { ControlFrame, StreamFrame } from "./stream-frames.ts";

/** Any frame of the service. */
export type AnyFrame = StreamFrame<unknown> | ControlFrame;

/** How a connection ended; a code of the protocol, or 1006 when it just broke. */
export type Closing = { readonly code: number; readonly reason: string };

/** Frames that wait for the reader; beyond, the connection is given up and resumed later. */
const waitingMax = 20_000;
/** Heartbeats that may be missing before a silent connection is given up. */
const missedHeartbeatsMax = 2.5;
const firstSilenceMs = 20_000;

/** One connection to the stream. It receives no faster than its frames are read. */
export class StreamSocket {
  readonly #socket: WebSocket;
  readonly #frames: AnyFrame[] = [];
  #closing: Closing | null = null;
  #wake: (() => void) | null = null;
  #silenceMs = firstSilenceMs;
  #watch: ReturnType<typeof setTimeout> | undefined;

  /** Sends `hello` when the socket opens. */
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

  /** The next frame; how it closed, after the last one. */
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

  /** Ends it; frames that were not read are dropped. */
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
    // Closing while it opens would be sent as a failure on the console of a browser.
    if (this.#socket.readyState !== WebSocket.CONNECTING) this.#socket.close();
    this.#wake?.();
  }
}
