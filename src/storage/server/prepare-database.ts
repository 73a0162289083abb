import { ConfigError } from "../../base/config/config.ts";
import { type FactsIdentity, hasWallets, refuseOtherFacts } from "../directory/identity.ts";
import { type Engine, readCount } from "../engine/engine.ts";
import { oldestSchemaVersion, schemaStatements, schemaVersion } from "../schema/schema.ts";
import { getTarget } from "../schema/schema-target.ts";
import { integerLiteral, wordLiteral } from "../sql-literal.ts";

/** The oldest server version that accepts the schema: year and month of the release. */
const oldestVersion = [26, 7] as const;

/** A database on a server, with the identity of its facts. */
export type Database = {
  readonly database: string;
  readonly cluster: string | null;
  readonly identity: FactsIdentity;
};

/**
 * Migrates the tables of a database on a server to the newest version, and stores the identity of our facts on first
 * use. Throws `ConfigError` when the server is too old, when the tables have a version that cannot be migrated, or
 * when the facts have another identity. Throws `SERVICE_UNAVAILABLE` when the user may not write.
 */
export async function prepareDatabase(engine: Engine, target: Database): Promise<void> {
  const version = await readSchemaVersion(engine);
  if (version > 0) await refuseOtherIdentity(engine, target);
  if (version < schemaVersion) {
    for (const sql of databaseStatements(target)) await engine.command(sql);
  }
  await refuseOtherDatabase(engine, target);
  // Inserts no rows, but fails without the right to insert. Otherwise the first append would wait for that right.
  await engine.command("INSERT INTO commits SELECT * FROM commits WHERE 0");
}

/**
 * Returns the statements that migrate the tables to the newest version. The last one stores that version with the
 * identity of the facts. Its token names the version, so the first process to insert it wins.
 */
export function databaseStatements(target: Database): readonly string[] {
  const { chain_id, contracts, events } = target.identity;
  const values = [schemaVersion, chain_id].map(integerLiteral);
  const row = [...values, wordLiteral(contracts), wordLiteral(events)].join(", ");
  return [
    ...schemaStatements(getTarget(target), { hasWallets: hasWallets(target.identity) }),
    `INSERT INTO ${target.database}.identity
SETTINGS async_insert = 0, deduplicate_insert = 'enable', insert_deduplication_token = 'identity:${schemaVersion}'
VALUES (${row})`,
  ];
}

/**
 * Reads the version of the tables; 0 before the first migration has finished. Throws `ConfigError` when it is too old to
 * be migrated, and as `refuseOldServer`.
 */
export async function readSchemaVersion(engine: Engine): Promise<number> {
  await refuseOldServer(engine);
  const identity = "system.tables WHERE database = currentDatabase() AND name = 'identity'";
  if ((await readCount(engine, identity)) === 0) return 0;
  const [row] = await engine.query("SELECT max(schema_version) FROM identity");
  const version = Number(row?.[0]);
  if (version === 0 || version >= oldestSchemaVersion) return version;
  throw new ConfigError([
    `the database has tables of version ${version}, which this version of oddwire cannot read; ` +
      "index again with another ODDWIRE_CLICKHOUSE_DATABASE, or run the version that made them",
  ]);
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

/** Throws `ConfigError` when a database has facts of another identity, or tables of another version. */
export async function refuseOtherDatabase(
  engine: Engine,
  target: Omit<Database, "cluster">,
): Promise<void> {
  const version = await refuseOtherIdentity(engine, target);
  if (version === schemaVersion) return;
  throw new ConfigError([
    `the database ${target.database} has tables of version ${version}, this version of oddwire needs version ${schemaVersion}; ` +
      (version < schemaVersion
        ? "run `oddwire cluster schema`"
        : "run the version of oddwire that made them, or a newer one"),
  ]);
}

/** Returns the version of the tables. Throws `ConfigError` when their facts have another identity, or none. */
async function refuseOtherIdentity(
  engine: Engine,
  { database, identity }: Omit<Database, "cluster">,
): Promise<number> {
  const location = `the database ${database}`;
  // A migration changes no fact, so the identity is that of the first version.
  const [first, ...later] = await engine.query(
    "SELECT schema_version, chain_id, contracts, events FROM identity ORDER BY schema_version",
  );
  if (first === undefined)
    throw new ConfigError([`${location} has no identity; run \`oddwire cluster schema\``]);
  const [, chainId, contracts, events] = first;
  refuseOtherFacts(
    { chain_id: Number(chainId), contracts: String(contracts), events: String(events) },
    identity,
    { location, setting: "ODDWIRE_CLICKHOUSE_DATABASE" },
  );
  return Number((later.at(-1) ?? first)[0]);
}
