import type { IncomingMessage } from "node:http";
import { type IpRanges, parseIpAddress } from "../base/ip-address.ts";

/**
 * Returns the canonical IP of the client. `X-Forwarded-For` is read from the right, where each trusted proxy has
 * appended the peer it saw. The first address that is not trusted is the client; anything to its left can be forged.
 */
export function getClientIp(
  request: Pick<IncomingMessage, "socket" | "headers">,
  trustedProxies: IpRanges | null,
): string {
  const peer = parseIpAddress(request.socket.remoteAddress ?? "") ?? goneAddress;
  if (trustedProxies === null || !trustedProxies.contains(peer)) return peer;
  // Node joins repeated header lines with commas, in their order.
  const nodes = String(request.headers["x-forwarded-for"] ?? "").split(",");
  let client = peer;
  for (const node of nodes.toReversed()) {
    // RFC 9110, 5.6.1: empty elements of a list do not count.
    if (node.trim() === "") continue;
    const address = parseNode(node.trim());
    if (address === null) return client;
    client = address;
    if (!trustedProxies.contains(address)) return client;
  }
  return client;
}

/** Stands for the peer of a socket that has closed. No one receives the answer. */
const goneAddress = "0.0.0.0";

/** Parses an address as proxies write it: some add a port, and then brackets around IPv6. */
function parseNode(text: string): string | null {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([0-9.]+))(?::[0-9]{1,5})?$/.exec(text) ?? [];
  return parseIpAddress(bracketed ?? plain ?? text);
}
