import { venueLimits } from "../../base/config/venue-limits.ts";
import { MarketSocket, type MarketSocketOptions } from "./market-socket.ts";

/** The venue's market channel for any number of tokens, over as many connections as they need. */
export class MarketSockets {
  readonly #options: MarketSocketOptions;
  readonly #sockets = new Set<MarketSocket>();

  private constructor(options: MarketSocketOptions) {
    this.#options = options;
  }

  static open(options: MarketSocketOptions): MarketSockets {
    return new MarketSockets(options);
  }

  close(): void {
    for (const socket of this.#sockets) socket.close();
  }

  get openConnections(): number {
    return [...this.#sockets].filter(({ isOpen }) => isOpen).length;
  }

  add(assetId: string): void {
    const socket = this.#sockets.values().find(hasRoom) ?? this.#open();
    socket.add(assetId);
  }

  /** See `MarketSocket.resubscribe`. */
  resubscribe(assetId: string, sinceMs: number): void {
    this.#getSocket(assetId)?.resubscribe(assetId, sinceMs);
  }

  remove(assetId: string): void {
    const socket = this.#getSocket(assetId);
    if (socket === undefined) return;
    socket.remove(assetId);
    if (socket.assetIds.size > 0) return;
    this.#sockets.delete(socket);
    socket.close();
  }

  #getSocket(assetId: string): MarketSocket | undefined {
    return this.#sockets.values().find(({ assetIds }) => assetIds.has(assetId));
  }

  #open(): MarketSocket {
    const socket = MarketSocket.open(this.#options);
    this.#sockets.add(socket);
    return socket;
  }
}

function hasRoom({ assetIds }: MarketSocket): boolean {
  return assetIds.size < venueLimits.tokensPerSocketMax;
}
