import { readConfig } from "../../base/config/config.ts";
import { readContracts } from "../../roles/read-contracts.ts";
import { schemaVersion } from "../../storage/schema/schema.ts";
import { checkDatabase } from "../../storage/server/check-database.ts";
import {
  getDatabase,
  getServerDatabase,
  openDatabase,
} from "../../storage/server/open-database.ts";
import { databaseStatements } from "../../storage/server/prepare-database.ts";
import { ServerEngine } from "../../storage/server/server-engine.ts";
import { exitCodes, print } from "../command.ts";

/** Creates or migrates the tables on a server or cluster. With `print` it only prints the statements. */
export async function makeSchema(options: { readonly print?: boolean }): Promise<number> {
  const config = readConfig("administer");
  const contracts = await readContracts(config);
  if (options.print === true) {
    const statements = databaseStatements(getDatabase(config, contracts));
    return print(...statements.map((sql) => `${sql.trim()};\n`));
  }
  const target = getServerDatabase(config, contracts);
  const engine = await openDatabase(target);
  await engine.close();
  return print(`the database ${target.database} has tables of version ${schemaVersion}`);
}

/** Checks the ClickHouse server, or all servers of the cluster, and the database that stores facts. */
export async function checkServer(): Promise<number> {
  const config = readConfig("administer");
  const target = getServerDatabase(config, await readContracts(config));
  const engine = await ServerEngine.open(target);
  try {
    const findings = await checkDatabase(engine, target);
    print(...findings.map(({ subject, problem }) => `${subject}: ${problem ?? "ok"}`));
    const isRight = findings.every(({ problem }) => problem === null);
    return isRight ? exitCodes.done : exitCodes.differs;
  } finally {
    await engine.close();
  }
}
