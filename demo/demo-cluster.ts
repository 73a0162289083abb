import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { ClickHouseServer } from "../test/support/clickhouse/clickhouse-server.ts";
import { RedisServer } from "../test/support/redis/redis-server.ts";
import { Service, type ServiceOptions } from "./service.ts";

type Role = "index" | "api";
type Closing = { close(): Promise<unknown> };

/**
 * An indexer and two serving nodes, each in its own process, with a ClickHouse server from the engine's library and
 * Debian's Redis. The data that they store is deleted at the end.
 */
export class DemoCluster {
  readonly serving: readonly [Service, Service];
  readonly #indexer: Service;
  /** In the order they were opened. */
  readonly #opened: readonly Closing[];

  private constructor(indexer: Service, serving: readonly [Service, Service], opened: Closing[]) {
    this.#indexer = indexer;
    this.serving = serving;
    this.#opened = opened;
  }

  /** Starts everything, and waits until each process listens. The first serving node gets the requested port. */
  static async open(options: ServiceOptions): Promise<DemoCluster> {
    const opened: Closing[] = [];
    const recorded = <Opened extends Closing>(one: Opened): Opened => {
      opened.push(one);
      return one;
    };
    try {
      const [clickhouse] = await ClickHouseServer.openAll(1);
      if (clickhouse === undefined) throw new Error("no ClickHouse server was started");
      const shared = {
        ODDWIRE_CLICKHOUSE_URL: recorded(clickhouse).url,
        ODDWIRE_REDIS_URL: recorded(await RedisServer.start()).url,
        ODDWIRE_HMAC_PEPPER: randomBytes(32).toString("hex"),
      };
      const start = async (role: Role, name: string, settings = {}) => {
        const dataDir = join(options.dataDir, name);
        const logFile = join(dirname(options.logFile), `${name}.log`);
        const own = { role, dataDir, logFile, settings: { ...shared, ...settings } };
        return recorded(await Service.open({ ...options, ...own }));
      };
      const indexer = await start("index", "index", anyPort);
      const serving = [await start("api", "api-1"), await start("api", "api-2", anyPort)] as const;
      return new DemoCluster(indexer, serving, opened);
    } catch (error) {
      await closeAll(opened);
      throw error;
    }
  }

  /** Rejects when a process ends. */
  async failed(): Promise<never> {
    return Promise.race([this.#indexer, ...this.serving].map((service) => service.failed()));
  }

  async close(): Promise<void> {
    await closeAll(this.#opened);
  }
}

/**
 * The ports of all processes but the first serving node. Only one process can use the ports that the environment sets.
 */
const anyPort = { ODDWIRE_PORT: "0", ODDWIRE_METRICS_PORT: "" };

/** Closes in reverse order, so that a process ends before the servers that it uses. */
async function closeAll(opened: readonly Closing[]): Promise<void> {
  for (const one of opened.toReversed()) await one.close();
}
