import { connect, type Socket } from "node:net";
import { waitFor } from "./wait-for.ts";

const eventStart = Buffer.from('{"type":"event"');

/**
 * A client of the stream on a bare socket, cheap enough for hundreds of instances. It counts events, and can stop
 * reading, so that frames queue at the server.
 */
export class RawStreamClient {
  readonly #socket: Socket;
  events = 0;
  closed: { readonly code: number; readonly reason: string } | null = null;
  #rest: Buffer = Buffer.alloc(0);
  #isUpgraded = false;
  readonly #observed = new Set<string>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    // A broken connection is noticed by its close.
    socket.on("error", () => {});
  }

  /** Connects and subscribes to a channel. */
  static async open(url: string, key: string, channel: object): Promise<RawStreamClient> {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const client = new RawStreamClient(socket);
    socket.write(
      "GET /v1/stream HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n" +
        "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n" +
        `x-api-key: ${key}\r\n\r\n`,
    );
    await client.#until("welcome");
    const frame = Buffer.from(JSON.stringify({ action: "subscribe", channel }));
    // A mask of zeros leaves the payload unchanged.
    socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | frame.length, 0, 0, 0, 0]), frame]));
    await client.#until("subscribed");
    return client;
  }

  /** Stops reading. */
  stall(): void {
    this.#socket.pause();
  }

  /** Reads the remaining bytes until the end. */
  async readToEnd(): Promise<void> {
    this.#socket.resume();
    await waitFor("the close", async () => this.closed);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async #until(type: string): Promise<void> {
    await waitFor(type, async () => (this.#observed.has(type) ? true : null));
  }

  #take(bytes: Buffer): void {
    let data = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (!this.#isUpgraded) {
      const end = data.indexOf("\r\n\r\n");
      if (end >= 0) data = data.subarray(end + 4);
      this.#isUpgraded = end >= 0;
    }
    let at = 0;
    while (this.#isUpgraded && at + 2 <= data.length) {
      const short = (data[at + 1] ?? 0) & 127;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (data.length < at + head) break;
      const length =
        head === 2
          ? short
          : head === 4
            ? data.readUInt16BE(at + 2)
            : Number(data.readBigUInt64BE(at + 2));
      if (data.length < at + head + length) break;
      this.#onFrame((data[at] ?? 0) & 15, data.subarray(at + head, at + head + length));
      at += head + length;
    }
    this.#rest = data.subarray(at);
  }

  #onFrame(opcode: number, payload: Buffer): void {
    if (opcode === 8) {
      this.closed ??= { code: payload.readUInt16BE(0), reason: payload.toString("utf8", 2) };
    } else if (opcode === 9) this.#socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]));
    else if (payload.subarray(0, eventStart.length).equals(eventStart)) this.events += 1;
    else this.#observed.add((JSON.parse(payload.toString()) as { type: string }).type);
  }
}
