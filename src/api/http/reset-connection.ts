import type { Socket } from "node:net";

/**
 * Closes a connection with a TCP reset. Over HTTP/1.0, which proxies speak, a body ends where the connection ends in
 * order, so a broken body must not end like that. Bytes that are not sent yet are dropped.
 */
export function resetConnection(socket: Socket): void {
  socket.resetAndDestroy();
  // Node would send what is queued first, for as long as the client takes to read it.
  socket.destroy();
}
