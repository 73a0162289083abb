import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

type Pending = { readonly request: IncomingMessage; readonly response: ServerResponse };

/**
 * Responses that are not sent yet, by connection. Requests can be pipelined. Anything written to the bare socket (the
 * error for malformed bytes, an upgrade) must come after the responses to the requests before it.
 */
export class PendingResponses {
  readonly #bySocket = new WeakMap<Socket, Set<Pending>>();

  add(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const exchanges = this.#bySocket.get(socket) ?? new Set();
    this.#bySocket.set(socket, exchanges);
    const exchange = { request, response };
    exchanges.add(exchange);
    response.once("close", () => exchanges.delete(exchange));
  }

  /** Returns whether a request on the connection has arrived completely and is not answered yet. */
  has(socket: Socket): boolean {
    return this.#complete(socket).length > 0;
  }

  /** Resolves when every request that arrived completely is answered, or the connection is closed. */
  async sent(socket: Socket): Promise<void> {
    for (let [first] = this.#complete(socket); first !== undefined; ) {
      await once(first.response, "close");
      [first] = this.#complete(socket);
    }
  }

  /** Returns whether a response has begun, such as to an incomplete request: no other can follow it. */
  hasBegun(socket: Socket): boolean {
    return [...(this.#bySocket.get(socket) ?? [])].some(({ response }) => response.headersSent);
  }

  #complete(socket: Socket): readonly Pending[] {
    return [...(this.#bySocket.get(socket) ?? [])].filter(({ request }) => request.complete);
  }
}
