import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Gives a request that asks for another protocol back to the server, without that wish. If the server itself declined
 * it, the parser would drop what follows in the same packet, such as the next request.
 */
export function declineUpgrade(
  server: Server,
  { request, socket, head }: { request: IncomingMessage; socket: Socket; head: Buffer },
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (/^upgrade$/i.test(name)) continue;
    const kept = /^connection$/i.test(name) ? withoutUpgrade(value) : value;
    lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

function withoutUpgrade(connection: string): string {
  const options = connection.split(",").filter((option) => !/^\s*upgrade\s*$/i.test(option));
  return options.join(",");
}
