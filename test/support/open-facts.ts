import { basename } from "node:path";
import { after } from "node:test";
import type { StoreOptions } from "../../src/storage/append/fact-store.ts";
import { type FactsIdentity, toIdentity } from "../../src/storage/directory/identity.ts";
import { openFolder } from "../../src/storage/embedded/open-folder.ts";
import type { Engine } from "../../src/storage/engine/engine.ts";
import { openDatabase, type ServerDatabase } from "../../src/storage/server/open-database.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { ClickHouseServer } from "./clickhouse/clickhouse-server.ts";
import { makeDatabase } from "./clickhouse/make-database.ts";
import { realPlace } from "./clickhouse/real-cluster.ts";
import { knownContracts } from "./recorded-chain.ts";

/**
 * Where tests store facts. `ODDWIRE_TEST_ENGINE` is `embedded` (the default: in the data directory), `server` (a
 * ClickHouse server of the test process, with a database for each folder), `shards` (two servers), or `cluster` (the
 * cluster that `realCluster` names).
 */
const engine = process.env["ODDWIRE_TEST_ENGINE"] ?? "embedded";
const getServers: Readonly<Record<string, number>> = {
  embedded: 0,
  server: 1,
  shards: 2,
  cluster: 1,
};
const servers = getServers[engine];
if (servers === undefined) throw new Error(`there is no engine ${engine} for tests`);

/** The number of ClickHouse servers that store the facts. Several servers are shards. */
const serverCount: number = servers;

export const isOnServer = serverCount > 0;

/** The `skip` option of tests that need a server without replicas. */
export const serverOnly = engine !== "server" && "of a server alone";

/** The `skip` option of tests that need the embedded engine. */
export const embeddedOnly = isOnServer && "of the embedded engine alone";

let opening: Promise<readonly ClickHouseServer[]> | null = null;
if (isOnServer) {
  after(async () => {
    for (const server of (await opening) ?? []) await server.close();
  });
}

/** Returns the database of a temporary folder; `null` if the facts are stored in the folder itself. */
export async function databaseOfFolder(
  folder: string,
  identity: FactsIdentity,
): Promise<ServerDatabase | null> {
  if (!isOnServer) return null;
  const database = basename(folder).replaceAll("-", "_");
  if (engine === "cluster") return { ...realPlace(database), identity };
  opening ??= ClickHouseServer.openAll(serverCount);
  return makeDatabase(await opening, { database, identity });
}

/** Opens the facts of a data directory. The caller closes them. */
export async function openFacts(
  dataDir: string,
  options: Omit<StoreOptions, "dropCopies"> = {},
): Promise<IndexedFacts> {
  return IndexedFacts.open(dataDir, async (folder) => counted(await openEngine(folder)), options);
}

async function openEngine(dataDir: string): Promise<Engine> {
  const place = await databaseOfFolder(dataDir, toIdentity(137, knownContracts()));
  return place === null ? openFolder(dataDir) : openDatabase(place);
}

let callsUnderWay = 0;

/** Whether a call of a counted part is under way: simulated time stands still meanwhile. */
export function isEngineBusy(): boolean {
  return callsUnderWay > 0;
}

/** Counts the calls of a part, such as an engine, that are in progress. */
export function counted<Part extends object>(part: Part): Part {
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, given);
        if (!(result instanceof Promise)) return result;
        callsUnderWay += 1;
        return result.finally(() => {
          callsUnderWay -= 1;
        });
      };
    },
  });
}
