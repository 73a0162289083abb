import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Responses that are not sent yet, by connection. Requests can be pipelined. Anything written to the bare socket (the
 * error for malformed bytes, an upgrade) must come after the responses to the requests before it.
 */
export class PendingResponses {
  readonly #bySocket = new Map<Socket, Set<ServerResponse>>();

  add(response: ServerResponse): void {
    const { socket } = response.req;
    const responses = this.#bySocket.get(socket) ?? new Set();
    this.#bySocket.set(socket, responses);
    responses.add(response);
    response.once("close", () => {
      responses.delete(response);
      if (responses.size === 0) this.#bySocket.delete(socket);
    });
  }

  /** Returns whether a request on the connection has arrived completely and is not answered yet. */
  has(socket: Socket): boolean {
    return this.#complete(socket).length > 0;
  }

  /** Resolves when every request that arrived completely is answered, or the connection is closed. */
  async sent(socket: Socket): Promise<void> {
    for (let [first] = this.#complete(socket); first !== undefined; ) {
      await once(first, "close");
      [first] = this.#complete(socket);
    }
  }

  /** Returns whether a response has begun, such as to an incomplete request: no other can follow it. */
  hasBegun(socket: Socket): boolean {
    return [...(this.#bySocket.get(socket) ?? [])].some((response) => response.headersSent);
  }

  /** Closes a connection. If a response has begun, the client can see that it did not end. */
  close(socket: Socket): void {
    if (this.hasBegun(socket)) resetConnection(socket);
    else socket.destroy();
  }

  /** Closes all connections of a server, also those with responses that are not sent yet. */
  closeAll(server: Server): void {
    for (const socket of this.#bySocket.keys()) this.close(socket);
    server.closeAllConnections();
  }

  #complete(socket: Socket): readonly ServerResponse[] {
    return [...(this.#bySocket.get(socket) ?? [])].filter(({ req }) => req.complete);
  }
}

/**
 * Closes a connection with a TCP reset. Over HTTP/1.0, which proxies speak, a body ends where the connection ends in
 * order, so a broken body must not end like that. Bytes that are not sent yet are dropped.
 */
export function resetConnection(socket: Socket): void {
  socket.resetAndDestroy();
  // Node would send what is queued first, for as long as the client takes to read it.
  socket.destroy();
}
