import { ConfigError } from "../../base/config/config.ts";
import { RowWriter } from "../codec/row-writer.ts";
import { type Engine, readCount } from "../engine/engine.ts";
import { type FactsIdentity, refuseOtherFacts } from "../identity.ts";
import { schemaStatements, schemaVersion } from "../schema.ts";

/** The oldest server that takes the schema: year and month of the release. */
const oldestVersion = [26, 7] as const;

/**
 * Makes the tables of a database on a server unless they are there, and ties it to our facts on first use. Throws
 * `ConfigError` when the server is too old, when the tables are of another version, or when the facts are others.
 */
export async function prepareDatabase(
  engine: Engine,
  { database, identity }: { readonly database: string; readonly identity: FactsIdentity },
): Promise<void> {
  await refuseOldServer(engine);
  if (!(await isPrepared(engine))) {
    for (const sql of schemaStatements({ kind: "server", database })) await engine.command(sql);
    await engine.insert("identity", rowOf(identity), "identity");
  }
  await refuseOtherDatabase(engine, { database, identity });
}

/** Whether the tables are made and tied to facts, which comes last. */
export async function isPrepared(engine: Engine): Promise<boolean> {
  const identity = "system.tables WHERE database = currentDatabase() AND name = 'identity'";
  return (await readCount(engine, identity)) > 0 && (await readCount(engine, "identity")) > 0;
}

/** Throws `ConfigError` when the server is older than the schema needs. */
export async function refuseOldServer(engine: Engine): Promise<void> {
  const [row] = await engine.query("SELECT version()");
  const version = String(row?.[0]);
  const [year = 0, month = 0] = version.split(".").map(Number);
  const [oldestYear, oldestMonth] = oldestVersion;
  if (year > oldestYear || (year === oldestYear && month >= oldestMonth)) return;
  throw new ConfigError([
    `the ClickHouse server is of version ${version}; ${oldestVersion.join(".")} or newer is needed`,
  ]);
}

/** Throws `ConfigError` when a database is for other facts than ours, or has tables of another version. */
export async function refuseOtherDatabase(
  engine: Engine,
  { database, identity }: { readonly database: string; readonly identity: FactsIdentity },
): Promise<void> {
  const [known] = await engine.query(
    "SELECT schema_version, chain_id, contracts, events FROM identity",
  );
  const place = `the database ${database}`;
  if (known === undefined)
    throw new ConfigError([`${place} has no identity: nothing made it ready`]);
  const [version, chainId, contracts, events] = known;
  if (Number(version) !== schemaVersion) {
    throw new ConfigError([
      `${place} has tables of version ${Number(version)}, this version of oddwire reads version ${schemaVersion}; ` +
        "index again: use another ODDWIRE_CLICKHOUSE_DATABASE, or run the version that made it",
    ]);
  }
  refuseOtherFacts(
    { chain_id: Number(chainId), contracts: String(contracts), events: String(events) },
    identity,
    { place, setting: "ODDWIRE_CLICKHOUSE_DATABASE" },
  );
}

function rowOf({ chain_id, contracts, events }: FactsIdentity): Buffer {
  const row = new RowWriter().uint32(schemaVersion).uint64(chain_id);
  return row.text(contracts).text(events).finish();
}
