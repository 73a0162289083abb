import { type Config, ConfigError, readConfig } from "../../base/config/config.ts";
import { readContracts } from "../../main.ts";
import { schemaStatements } from "../../storage/schema.ts";
import { checkDatabase } from "../../storage/server/check-database.ts";
import { connectToServer, serverPlaceOf } from "../../storage/server/open-database.ts";
import { exitCodes } from "../command.ts";

/** Prints the statements that create the tables on a server, or on a cluster of that name. */
export async function printSchema(options: { readonly cluster?: string }): Promise<number> {
  const { clickhouseDatabase: database } = readConfig("administer");
  const { cluster } = options;
  const statements = schemaStatements(
    cluster === undefined ? { kind: "server", database } : { kind: "cluster", database, cluster },
  );
  process.stdout.write(statements.map((sql) => `${sql.trim()};\n\n`).join(""));
  return exitCodes.done;
}

/** Checks the ClickHouse server and the database that facts are kept in. */
export async function checkServer(): Promise<number> {
  const config = readConfig("administer");
  const place = await placeOf(config);
  const engine = await connectToServer(place, config.dataDir);
  try {
    const findings = await checkDatabase(engine, place);
    const lines = findings.map(({ subject, problem }) => `${subject}: ${problem ?? "ok"}\n`);
    process.stdout.write(lines.join(""));
    const isRight = findings.every(({ problem }) => problem === null);
    return isRight ? exitCodes.done : exitCodes.differs;
  } finally {
    await engine.close();
  }
}

async function placeOf(config: Config) {
  const place = serverPlaceOf(config, await readContracts(config.contractsFile));
  if (place !== null) return place;
  throw new ConfigError(["ODDWIRE_CLICKHOUSE_URL is required: the server to check"]);
}
