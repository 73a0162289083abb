import { once } from "node:events";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { cleanUp } from "../clean-up.ts";
import type { ClickHouseServer } from "./clickhouse-server.ts";

/**
 * A proxy that shows a server as a replica that is behind, table by table: queries see the rows of held tables as they
 * were when the hold began. Merges are stopped, so that the parts of that moment still identify these rows.
 */
export class LaggingProxy {
  readonly #target: ClickHouseServer;
  readonly #database: string;
  readonly #http = http.createServer((request, response) => this.#forward(request, response));
  /** For each held table, an SQL condition that selects its visible rows. */
  readonly #found = new Map<string, string>();

  private constructor(target: ClickHouseServer, database: string) {
    this.#target = target;
    this.#database = database;
  }

  static async open(
    t: TestContext,
    target: ClickHouseServer,
    database: string,
  ): Promise<LaggingProxy> {
    await target.ask("SYSTEM STOP MERGES");
    const proxy = new LaggingProxy(target, database);
    proxy.#http.listen(0, "127.0.0.1");
    await once(proxy.#http, "listening");
    cleanUp(t, () => {
      proxy.#http.closeAllConnections();
      proxy.#http.close();
    });
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** From now on queries see only the rows that a table has now. */
  async hold(table: string): Promise<void> {
    const parts = await this.#target.ask(
      `SELECT name FROM system.parts WHERE database = '${this.#database}' AND table = '${table}' AND active`,
    );
    const names = parts.split("\n").map((name) => `\\'${name}\\'`);
    this.#found.set(table, `_part IN (${names.join()})`);
  }

  /** Shows all rows of the table again. */
  release(table: string): void {
    this.#found.delete(table);
  }

  #forward(request: http.IncomingMessage, response: http.ServerResponse): void {
    const url = new URL(request.url ?? "/", this.#target.url);
    const filters = [...this.#found].map(
      ([table, found]) => `'${this.#database}.${table}':'${found}'`,
    );
    url.searchParams.set("additional_table_filters", `{${filters.join()}}`);
    const { method = "GET", headers } = request;
    const requested = http.request(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    requested.on("error", () => response.destroy());
    request.pipe(requested);
  }
}
