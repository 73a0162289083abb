import { venueLimits } from "../../base/config/venue-limits.ts";
import { MarketSocket, type MarketSocketOptions } from "./market-socket.ts";

type MarketSocketsOptions = Omit<MarketSocketOptions, "onDown"> & {
  /** Called when the connection of these tokens is lost. */
  readonly onDown: (assetIds: ReadonlySet<string>) => void;
};

/** The venue's market channel for any number of tokens, over as many connections as they need. */
export class MarketSockets {
  readonly #options: MarketSocketsOptions;
  readonly #sockets = new Set<MarketSocket>();
  readonly #homes = new Map<string, MarketSocket>();
  #connectionsBefore = 0;

  private constructor(options: MarketSocketsOptions) {
    this.#options = options;
  }

  static open(options: MarketSocketsOptions): MarketSockets {
    return new MarketSockets(options);
  }

  close(): void {
    for (const socket of this.#sockets) socket.close();
  }

  get connections(): number {
    const now = [...this.#sockets].reduce((sum, { connections }) => sum + connections, 0);
    return this.#connectionsBefore + now;
  }

  get openConnections(): number {
    return [...this.#sockets].filter(({ isOpen }) => isOpen).length;
  }

  add(assetId: string): void {
    if (this.#homes.has(assetId)) return;
    const socket = [...this.#sockets].find(hasRoom) ?? this.#open();
    this.#homes.set(assetId, socket);
    socket.add(assetId);
  }

  remove(assetId: string): void {
    const socket = this.#homes.get(assetId);
    if (socket === undefined) return;
    this.#homes.delete(assetId);
    socket.remove(assetId);
    if (socket.assetIds.size > 0) return;
    this.#sockets.delete(socket);
    this.#connectionsBefore += socket.connections;
    socket.close();
  }

  #open(): MarketSocket {
    const socket = MarketSocket.open({
      ...this.#options,
      onDown: ({ assetIds }) => this.#options.onDown(assetIds),
    });
    this.#sockets.add(socket);
    return socket;
  }
}

function hasRoom({ assetIds }: MarketSocket): boolean {
  return assetIds.size < venueLimits.tokensPerSocketMax;
}
