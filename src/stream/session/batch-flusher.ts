import { streamLimits } from "../../base/config/limits.ts";
import { Packet } from "../frames/packet.ts";

type Batched = { push(packet: Packet): void };

/** Flushes batches immediately, but not within `batchMs` of the last flush. Equal batches share their bytes. */
export class BatchFlusher {
  readonly #waiting = new Map<Batched, Packet[]>();
  #flushedAtMs = -Infinity;
  #timer: NodeJS.Timeout | null = null;

  /** Has a connection get a packet at the next flush. */
  add(connection: Batched, packet: Packet): void {
    const packets = this.#waiting.get(connection);
    if (packets === undefined) this.#waiting.set(connection, [packet]);
    else packets.push(packet);
    if (this.#timer !== null) return;
    const inMs = Math.max(0, this.#flushedAtMs + streamLimits.batchMs - performance.now());
    this.#timer = setTimeout(() => this.#flush(), inMs);
  }

  /** Returns the packets that wait for a connection. The next flush leaves them out. */
  take(connection: Batched): readonly Packet[] {
    const packets = this.#waiting.get(connection) ?? [];
    this.#waiting.delete(connection);
    return packets;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #flush(): void {
    this.#timer = null;
    this.#flushedAtMs = performance.now();
    const joined = new Map<string, Packet>();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [connection, packets] of waiting) {
      const name = packets.map(({ id }) => id).join(" ");
      const packet = joined.get(name) ?? Packet.join(packets);
      joined.set(name, packet);
      connection.push(packet);
    }
  }
}
