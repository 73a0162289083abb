import * as http from "node:http";
import * as https from "node:https";
import { buffer, text } from "node:stream/consumers";
import { serverLimits } from "../../base/config/limits.ts";

/** The engine's settings for one statement, by name. */
export type QuerySettings = Readonly<Record<string, string | number>>;

/**
 * Queries a server over plain HTTP. `@clickhouse/client` waits on a timer before each request. These 1.3 ms would
 * double the time of reading a page.
 */
export class HttpReader {
  readonly #url: URL;
  readonly #credentials: string;
  readonly #request: typeof http.request;
  readonly #agent: http.Agent;

  constructor(server: {
    readonly url: string;
    readonly user: string;
    readonly password: string;
    readonly database: string;
  }) {
    this.#url = new URL(server.url);
    this.#url.searchParams.set("database", server.database);
    this.#credentials = `${server.user}:${server.password}`;
    const { request, Agent } = this.#url.protocol === "https:" ? https : http;
    this.#request = request;
    this.#agent = new Agent({ keepAlive: true, maxSockets: serverLimits.readersMax });
  }

  /** Returns the whole answer. Rejects with the server's error and its code, or with the error of the connection. */
  async read(sql: string, settings: QuerySettings, signal: AbortSignal): Promise<Buffer> {
    const url = new URL(this.#url);
    for (const [name, value] of Object.entries(settings)) {
      url.searchParams.set(name, String(value));
    }
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const [auth, agent] = [this.#credentials, this.#agent];
    const request = this.#request(url, { method: "POST", auth, agent, signal });
    request.on("response", resolve).on("error", reject).end(sql);
    const response = await promise;
    if (response.statusCode === 200) return buffer(response);
    throw getError(response, await text(response));
  }

  /** Connects again for later queries. */
  leaveServer(): void {
    leaveServer(this.#agent);
  }

  /** Closes all connections. No query may be under way. */
  close(): void {
    this.#agent.destroy();
  }
}

/** Closes the idle connections of an agent, and the others after their answer. Later requests connect by name. */
export function leaveServer(agent: http.Agent): void {
  for (const socket of Object.values(agent.freeSockets).flatMap((idle) => idle ?? []))
    socket.destroy();
  // Before the agent gives the connection to the next request.
  for (const socket of Object.values(agent.sockets).flatMap((used) => used ?? []))
    socket.prependOnceListener("free", () => socket.destroy());
}

function getError({ statusCode, headers }: http.IncomingMessage, body: string): Error {
  const code = headers["x-clickhouse-exception-code"];
  const [, reason] = /^Code: [0-9]+\. DB::Exception: (.*?) \([A-Z_0-9]+\)( \(version .*)?$/s.exec(
    body.trim(),
  ) ?? [null, `it answers with status ${statusCode}`];
  return Object.assign(new Error(reason), code === undefined ? {} : { code });
}
