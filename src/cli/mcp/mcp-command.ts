import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { finished } from "node:stream/promises";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { Connection } from "../../../clients/typescript/src/connection.ts";
import { version } from "../../base/config/version.ts";
import { type ApiOptions, readApi } from "../client/api-options.ts";
import { exitCodes, print } from "../command.ts";
import { createMcpServer } from "./mcp-server.ts";
import { sendRequest } from "./send-request.ts";

const path = "/mcp";
const host = "127.0.0.1";

/** Serves the Model Context Protocol until the input ends or the process is stopped. */
export async function serveMcp(options: ApiOptions & { readonly http?: number }): Promise<number> {
  const connection = new Connection({ ...readApi(options), fetch: sendRequest });
  if (options.http === undefined) await serveStdio(connection);
  else await serveHttp(connection, options.http);
  return exitCodes.done;
}

async function serveStdio(connection: Connection): Promise<void> {
  const transport = new StdioServerTransport();
  // A pipe ends and closes, a file or /dev/null only ends.
  const ended = finished(process.stdin, { writable: false });
  await createMcpServer(connection, version).connect(transport);
  await ended;
}

/** Serves on the loopback interface. Requests of other web pages are refused by their `Host` and `Origin`. */
async function serveHttp(connection: Connection, port: number): Promise<void> {
  const server = createServer((request, response) => {
    void answer(connection, request, response);
  });
  server.listen(port, host);
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;
  print(JSON.stringify({ listening: `http://${host}:${bound}${path}` }));
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
  await once(server, "close");
}

/** Answers one request. The server keeps no sessions: every request has a transport of its own. */
async function answer(
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isLocal(request)) return refuse(response, 403, "only for programs on this machine");
  if (request.url !== path) return refuse(response, 404, `the path is ${path}`);
  if (request.method !== "POST")
    return refuse(response, 405, "without sessions, only POST is used");
  const server = createMcpServer(connection, version);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.on("close", () => {
    void transport.close();
    void server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response);
}

/** Whether a request names this machine, so that a web page cannot send it by a name of its own. */
function isLocal({ headers }: IncomingMessage): boolean {
  const names = [headers.host, headers.origin].filter((name) => name !== undefined);
  return names.every((name) => /^(http:\/\/)?(127\.0\.0\.1|localhost)(:\d+)?$/.test(name));
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const error = { jsonrpc: "2.0", error: { code: -32_000, message }, id: null };
  response.writeHead(status, { "Content-Type": "application/json", Allow: "POST" });
  response.end(JSON.stringify(error));
}
