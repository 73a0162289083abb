import * as http from "node:http";
import * as https from "node:https";
import type { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { serverLimits } from "../../base/config/limits.ts";

/** Values of the engine's settings for one statement. */
export type QuerySettings = Readonly<Record<string, string | number>>;

/** What is sent: a statement, and the rows of an `INSERT`. */
type Request = {
  readonly sql: string;
  readonly rows: Readable | undefined;
  readonly settings: QuerySettings;
  readonly signal: AbortSignal;
};

/** The HTTP interface of a server. */
export class HttpClient {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
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
    const credentials = Buffer.from(`${server.user}:${server.password}`).toString("base64");
    this.#headers = { authorization: `Basic ${credentials}` };
    const { request, Agent } = this.#url.protocol === "https:" ? https : http;
    this.#request = request;
    const { readersMax, writersMax } = serverLimits;
    this.#agent = new Agent({ keepAlive: true, maxSockets: readersMax + writersMax });
  }

  /** The whole answer. Rejects with the server's error and its code, or with the one of the connection. */
  async send({ sql, rows, settings, signal }: Request): Promise<Buffer> {
    const url = new URL(this.#url);
    for (const [name, value] of Object.entries(settings)) {
      url.searchParams.set(name, String(value));
    }
    // Rows are the body; a statement alone is, as it may be too long for a URL.
    if (rows !== undefined) url.searchParams.set("query", sql);
    const length = rows === undefined ? { "content-length": Buffer.byteLength(sql) } : {};
    const headers = { ...this.#headers, ...length };
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const request = this.#request(url, { method: "POST", agent: this.#agent, headers, signal });
    request.on("response", resolve).on("error", reject);
    if (rows === undefined) request.end(sql);
    else rows.on("error", (error) => request.destroy(error)).pipe(request);
    const response = await promise;
    if (response.statusCode === 200) return buffer(response);
    throw errorOf(response, await text(response));
  }

  /** Closes connections; nothing may be under way. */
  close(): void {
    this.#agent.destroy();
  }
}

function errorOf({ statusCode, headers }: http.IncomingMessage, body: string): Error {
  const code = headers["x-clickhouse-exception-code"];
  const [, reason] = /^Code: [0-9]+\. DB::Exception: (.*?) \([A-Z_0-9]+\)( \(version .*)?$/s.exec(
    body.trim(),
  ) ?? [null, `it answers with status ${statusCode}`];
  return Object.assign(new Error(reason), code === undefined ? {} : { code });
}
