import type { ControlFrame, StreamFrame } from "./stream-frames.ts";

/** Any frame of the service. */
export type AnyFrame = StreamFrame<unknown> | ControlFrame;

/** The close code and reason of a connection. The code is 1006 if the connection broke. */
export type Closing = { readonly code: number; readonly reason: string };

/** The most frames that wait for the reader. Beyond that the stream leaves its connection, and resumes later. */
const waitingMax = 20_000;

/** The frames that one stream receives from its connection. They wait here until they are read. */
export class StreamInbox {
  /** Whether other streams can use the connection too. */
  readonly isShared: boolean;
  readonly #frames: AnyFrame[] = [];
  readonly #onLeft: () => void;
  #closing: Closing | null = null;
  #wake: (() => void) | null = null;

  /** `onLeft` is called once, unless the connection ended before. */
  constructor(isShared: boolean, onLeft: () => void) {
    this.isShared = isShared;
    this.#onLeft = onLeft;
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

  get isClosed(): boolean {
    return this.#closing !== null;
  }

  take(frame: AnyFrame): void {
    if (this.#closing !== null) return;
    this.#frames.push(frame);
    if (this.#frames.length <= waitingMax) return this.#wake?.();
    this.end({ code: 4002, reason: "the reader is slow" });
    this.#onLeft();
  }

  /** Ends the stream after the frames that wait. */
  end(closing: Closing): void {
    this.#closing ??= closing;
    this.#wake?.();
  }

  /** Leaves the connection. Unread frames are dropped. */
  close(): void {
    this.#frames.length = 0;
    if (this.#closing !== null) return;
    this.end({ code: 1000, reason: "the reader has left" });
    this.#onLeft();
  }
}
