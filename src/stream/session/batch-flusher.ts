import { streamLimits } from "../../base/config/limits.ts";
import { Packet } from "../frames/packet.ts";

/** A connection with data that waits for the next flush. */
export type Batched = { takePending(): readonly Packet[]; push(packet: Packet): void };

/** Flushes batches immediately, but not within `batchMs` of the last flush. Equal batches share their bytes. */
export class BatchFlusher {
  readonly #waiting = new Set<Batched>();
  #flushedAtMs = -Infinity;
  #timer: NodeJS.Timeout | null = null;

  add(connection: Batched): void {
    this.#waiting.add(connection);
    if (this.#timer !== null) return;
    const inMs = Math.max(0, this.#flushedAtMs + streamLimits.batchMs - performance.now());
    this.#timer = setTimeout(() => this.#flush(), inMs);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #flush(): void {
    this.#timer = null;
    this.#flushedAtMs = performance.now();
    const joined = new Map<string, Packet>();
    const connections = [...this.#waiting];
    this.#waiting.clear();
    for (const connection of connections) {
      const packets = connection.takePending();
      if (packets.length === 0) continue;
      const name = packets.map(({ id }) => id).join(" ");
      const packet = joined.get(name) ?? Packet.join(packets);
      joined.set(name, packet);
      connection.push(packet);
    }
  }
}
