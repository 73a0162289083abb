import { HttpTransport } from "./http-transport.ts";
import type { OnHead, Transport } from "./transport.ts";
import { WsTransport } from "./ws-transport.ts";

/** HTTP(S) or WebSocket, by the scheme of the URL. */
export function openTransport(url: URL, onHead: OnHead): Transport {
  const isWebSocket = url.protocol === "ws:" || url.protocol === "wss:";
  return isWebSocket ? WsTransport.open(url, onHead) : HttpTransport.open(url);
}
