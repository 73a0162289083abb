import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/** Connections without a request yet. Node does not count them as idle, and closing would wait for them. */
export class IdleConnections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    const hear = ({ socket }: IncomingMessage) => this.#sockets.delete(socket);
    server.on("request", hear);
    server.on("upgrade", hear);
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
