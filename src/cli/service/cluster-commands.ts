import { type Config, ConfigError, readConfig } from "../../base/config/config.ts";
import { readContracts } from "../../main.ts";
import { schemaStatements } from "../../storage/schema.ts";
import { checkDatabase } from "../../storage/server/check-database.ts";
import { connectToServer, serverPlaceOf } from "../../storage/server/open-database.ts";
import { type Command, exitCodes } from "../command.ts";

const schema: Command = {
  name: "cluster schema",
  summary: "Print the statements that make the tables on a ClickHouse server",
  details: `For operators who do not let the service make tables. With --cluster they are those of a cluster whose
configuration has that name: replicated tables, and distributed ones above those that are sharded.`,
  options: { cluster: { value: "NAME", description: "The cluster (default: one server)" } },
  examples: ["oddwire cluster schema", "oddwire cluster schema --cluster main"],
  run: async (words) => {
    const { clickhouseDatabase: database } = readConfig("administer");
    const cluster = words.text("cluster");
    const statements = schemaStatements(
      cluster === null ? { kind: "server", database } : { kind: "cluster", database, cluster },
    );
    process.stdout.write(statements.map((sql) => `${sql.trim()};\n\n`).join(""));
    return exitCodes.done;
  },
};

const check: Command = {
  name: "cluster check",
  summary: "Check the ClickHouse server and the database that facts are kept in",
  details: `Looks at the version and the clock of the server, the tables, which chain and contracts they are for, and
whether the newest rows are all there. Exit code 2 when something is wrong.`,
  options: {},
  examples: ["ODDWIRE_CLICKHOUSE_URL=http://db:8123 oddwire cluster check"],
  run: async () => {
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
  },
};

/** Both commands about a ClickHouse server. */
export const clusterCommands: readonly Command[] = [schema, check];

async function placeOf(config: Config) {
  const place = serverPlaceOf(config, await readContracts(config.contractsFile));
  if (place !== null) return place;
  throw new ConfigError(["ODDWIRE_CLICKHOUSE_URL is required: the server to check"]);
}
