import { Type } from "typebox";
import { invalid } from "../../../base/input/compile-reader.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import { streamPath, streamQuery } from "../../stream/stream-server.ts";

/** The answer to a plain request for the stream: that it needs an upgrade. */
export function openStream(): Route {
  return defineRoute({
    method: "GET",
    path: streamPath,
    access: "public",
    upgrade: "websocket",
    summary:
      "The stream, over WebSocket: trades, resolutions, markets, candles, prices, books and more, as they happen and from any position on",
    querystring: streamQuery,
    errors: ["UNAUTHORIZED", "SERVICE_UNAVAILABLE"],
    response: Type.Object({}),
    handler: () => {
      throw invalid("upgrade", "must be websocket to open the stream");
    },
  });
}
