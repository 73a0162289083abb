/** A reference client: it reconnects automatically, resumes, and removes reverted rows. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";

type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

const retryMs = 50;

export class ResumingClient {
  readonly #getUrl: () => string;
  readonly #key: string;
  readonly #channel: Readonly<Record<string, unknown>>;
  /** The rows that were not reverted, by id. A market has one, which is replaced. */
  readonly rows = new Map<string, { readonly seq: number; readonly data: unknown }>();
  /** How often it connected, and how often it received a reorg. */
  connections = 0;
  reorgs = 0;
  /** The first violation of the protocol. */
  failure: Error | null = null;
  #position = 0;
  #socket: WebSocket | null = null;
  #isClosed = false;
  readonly #running: Promise<void>;

  /** `getUrl` is called before each connection, because a service may return on another port. */
  constructor(
    getUrl: () => string,
    key: string,
    channel: Readonly<Record<string, unknown>> = { type: "trades" },
  ) {
    this.#getUrl = getUrl;
    this.#key = key;
    this.#channel = channel;
    this.#running = this.#run();
  }

  /** Cuts the connection as a network failure would. */
  cut(): void {
    this.#socket?.terminate();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.cut();
    await this.#running;
    if (this.failure !== null) throw this.failure;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed && this.failure === null) {
      await this.#connect();
      await delay(retryMs);
    }
  }

  async #connect(): Promise<void> {
    const url = `${this.#getUrl().replace("http", "ws")}/v1/stream?batch=1`;
    const socket = new WebSocket(url, { headers: { "x-api-key": this.#key } });
    this.#socket = socket;
    socket.on("error", () => {});
    socket.on("open", () => {
      this.connections += 1;
      const resume = { resume_from: this.#position };
      socket.send(JSON.stringify({ action: "subscribe", channel: this.#channel, ...resume }));
    });
    socket.on("message", (data: Buffer) => {
      // Frames after the cut are ignored.
      if (this.#socket !== socket || socket.readyState !== WebSocket.OPEN) return;
      try {
        const frames = [JSON.parse(data.toString()) as Frame | Frame[]].flat();
        for (const frame of frames) this.#take(frame);
      } catch (thrown) {
        this.failure = thrown as Error;
        socket.terminate();
      }
    });
    await new Promise<void>((resolve) => {
      socket.on("close", () => resolve());
    });
  }

  #take(frame: Frame): void {
    switch (frame.type) {
      case "subscribed":
      case "replay_complete":
        this.#position = frame["seq"] as number;
        return;
      case "event": {
        const { id, condition_id: market } = frame["data"] as Record<string, string>;
        const [name = "", seq] = [id ?? market, frame["seq"] as number];
        assert.equal(frame["prev_seq"], this.#position, "nothing is lost in between");
        assert(id === undefined || !this.rows.has(id), `${id} was sent twice`);
        this.rows.set(name, { seq, data: frame["data"] });
        this.#position = seq;
        return;
      }
      case "reorg": {
        const to = frame["rewind_to_seq"] as number;
        for (const [id, { seq }] of this.rows) if (seq > to) this.rows.delete(id);
        this.#position = to;
        this.reorgs += 1;
        return;
      }
      case "error": {
        // The node is behind. The client tries again, since a node will have the position soon.
        const { code } = frame["error"] as { code: string };
        assert.equal(code, "SERVICE_UNAVAILABLE", JSON.stringify(frame));
        this.cut();
      }
    }
  }
}
