import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { type Command, Option } from "commander";
import {
  formatConfig,
  type Role,
  readConfig,
  setCompiledCodeFolder,
} from "../../base/config/config.ts";
import { makeDataDirectory } from "../../base/config/make-data-directory.ts";
import { addExamples, lazily } from "../command.ts";
import { awaitSignal } from "./await-signal.ts";
import { type FlagValues, settingFlags, toEnvironment } from "./setting-flags.ts";

/** Adds the commands that work on a data directory or a ClickHouse server, without a running service. */
export function addServiceCommands(program: Command): void {
  addRoles(program);
  addDemo(program);
  const config = program
    .command("config")
    .summary("print the settings in force")
    .description("Prints the settings in force, as environment variables. Secrets are not shown.")
    .action(() => void process.stdout.write(formatConfig(readConfig("administer"))));
  addExamples(config, ["oddwire config", "ODDWIRE_PORT=9000 oddwire config"]);
  addCheck(program);
  addRepair(program);
  addCluster(program);
}

/** Adds the command that runs a role of a process, with some of the flags of settings, or all. */
function addRole(
  program: Command,
  role: Role,
  parts: {
    readonly summary: string;
    readonly description: string;
    readonly flags?: readonly string[];
    readonly examples: readonly string[];
  },
): void {
  const command = program
    .command(role)
    .hook("preAction", (started) => beforeLoading(role, started.opts()))
    .summary(parts.summary)
    .description(parts.description)
    .action(lazily(async () => (await import("./run-service.ts")).runService.bind(null, role)));
  for (const option of settingFlags(parts.flags)) command.addOption(option);
  addExamples(command, parts.examples);
}

/**
 * Runs before the modules of a role are loaded. Caches their compiled code in the data directory, which saves half a second
 * of CPU time at each start. Only the service can write there, unlike the system's folder for temporary files, from
 * which code must not be run.
 */
function beforeLoading(role: Role, flags: FlagValues): void {
  // A signal can arrive while modules are loading.
  void awaitSignal();
  const { dataDir } = readConfig(role, toEnvironment(flags));
  makeDataDirectory(dataDir);
  const folder = join(dataDir, "compiled");
  setCompiledCodeFolder(folder);
  enableCompileCache(folder);
}

function addRoles(program: Command): void {
  addRole(program, "serve", {
    summary: "index the chain and serve it",
    description:
      "Indexes the chain and serves it. Settings are ODDWIRE_* variables, also in a file .env. A flag overrides its variable. The first start on a data directory creates an admin key and prints it once. Standard output shows the address, as one line of JSON unless it is a terminal. Logs go to standard error. SIGTERM and SIGINT let requests in flight finish.",
    examples: [
      "oddwire serve --rpc-url https://polygon-bor-rpc.publicnode.com --venue polymarket",
      "ODDWIRE_RPC_URLS=https://polygon-bor-rpc.publicnode.com oddwire serve",
    ],
  });
  const clusterNeeds =
    "ODDWIRE_CLICKHOUSE_URL, ODDWIRE_REDIS_URL and ODDWIRE_HMAC_PEPPER are required and must be the same on all nodes.";
  addRole(program, "index", {
    summary: "index the chain for the serving nodes of a cluster",
    description: `Indexes the chain for the serving nodes of a cluster. Any number may run: one is active, the others take over when it ends. It serves health, readiness and metrics only. ${clusterNeeds}`,
    flags: ["rpc-url", "start-block", "data-dir", "port", "venue"],
    examples: ["oddwire index --rpc-url https://polygon-bor-rpc.publicnode.com"],
  });
  addRole(program, "api", {
    summary: "serve what the indexer of a cluster indexes",
    description: `Serves what the indexer of a cluster indexes. Any number may run behind any load balancer. Its data directory is a cache that may be lost. ${clusterNeeds}`,
    flags: ["data-dir", "port", "venue"],
    examples: ["oddwire api --port 8081"],
  });
}

function addDemo(program: Command): void {
  const demo = program
    .command("demo")
    .summary("run a simulated exchange on a local chain, and the service on top of it")
    .description(
      "Runs a simulated exchange on a local chain, and the service on top of it. Nothing leaves this machine. The next start resumes where the last one stopped; delete .demo to start over. ODDWIRE_PORT, ODDWIRE_DATA_DIR and other settings apply, except those of the chain, the venue and the keys.",
    )
    .option("--seed <number>", "play the same market again")
    .action(lazily(async () => (await import("./demo.ts")).runDemo));
  for (const option of settingFlags(["port", "data-dir"])) demo.addOption(option);
  addExamples(demo, ["oddwire demo", "oddwire demo --port 8090 --seed 7"]);
}

const fromOption = () =>
  new Option("--from <block>", "first block (default: the first stored block)");
const toOption = () => new Option("--to <block>", "last block (default: the last finalized block)");

function addCheck(program: Command): void {
  const check = program
    .command("check")
    .summary("compare stored blocks with the nodes")
    .description(
      "Reads stored blocks again from the nodes and compares. Two endpoints are asked; a single one is asked for the receipts of every block. Prints each difference by block, contract and event, and shows progress on standard error. Exits with 0 if everything is equal, 2 if not, and 75 while a service runs on the data directory or no node answers.",
    )
    .addOption(fromOption())
    .addOption(toOption())
    .option("--parallel <n>", "slices of 500 blocks read at a time, 1 to 16 (default: 4)")
    .option(
      "--balances <n>",
      "also compare n balances, chosen at random, with balanceOfBatch at the last stored block",
    )
    .option("--json", "print one JSON object, with counts and hashes")
    .action(lazily(async () => (await import("./check-command.ts")).check));
  for (const option of settingFlags(["data-dir"])) check.addOption(option);
  addExamples(check, ["oddwire check --from 90000000 --to 90010000", "oddwire check --json"]);
}

function addRepair(program: Command): void {
  const repair = program
    .command("repair")
    .summary("read stored blocks again and repair what is corrupt")
    .description(
      "Compares as check does, and replaces what is proven to be corrupt, minute candles included. If it is killed, the next start completes what was begun; run it again for the rest. Exits with 0 when everything is correct, 2 if something could not be proven, and 75 while a service runs on the data directory. With a ClickHouse server, stop the services that use its database first. A cluster is not repaired: the command refuses, with 2.",
    )
    .addOption(fromOption())
    .addOption(toOption())
    .action(lazily(async () => (await import("./repair-command.ts")).repair));
  for (const option of settingFlags(["data-dir"])) repair.addOption(option);
  addExamples(repair, ["oddwire repair --from 90000000 --to 90010000"]);
}

function addCluster(program: Command): void {
  const cluster = program
    .command("cluster")
    .summary("create the ClickHouse tables, or check a server")
    .description("Commands for a ClickHouse server.");
  const schema = cluster
    .command("schema")
    .summary("create or migrate the tables")
    .description(
      "Creates or migrates the tables on a ClickHouse server. The service does it at a start if its user may create tables; for operators who do not allow that, run this as another user, or run what --print shows. With ODDWIRE_CLICKHOUSE_CLUSTER the tables are replicated, and those of facts are sharded. Repeating it changes nothing.",
    )
    .option("--print", "print the statements from an empty database on, and run none")
    .action(lazily(async () => (await import("./cluster-commands.ts")).makeSchema));
  addExamples(schema, [
    "ODDWIRE_CLICKHOUSE_URL=http://db:8123 oddwire cluster schema",
    "ODDWIRE_CLICKHOUSE_CLUSTER=main oddwire cluster schema --print",
  ]);
  const check = cluster
    .command("check")
    .summary("check the ClickHouse server and its database")
    .description(
      "Checks the version and the clock of the server, the tables, which chain and contracts they belong to, and whether the newest rows are complete. For a cluster it also checks the versions, clocks and macros of all servers, replicas, and the quorum of inserts. Exits with 2 when something is wrong.",
    )
    .action(lazily(async () => (await import("./cluster-commands.ts")).checkServer));
  addExamples(check, ["ODDWIRE_CLICKHOUSE_URL=http://db:8123 oddwire cluster check"]);
}
