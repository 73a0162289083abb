import { type Command, Option } from "commander";
import { addExamples, lazily } from "../command.ts";

/** Adds `import`. `export --lake` is an option of `export`. */
export function addLakeCommands(program: Command): void {
  const command = program
    .command("import")
    .summary("fill an empty store from a lake")
    .description(
      "Fills an empty data directory, or an empty database on a ClickHouse server, from a lake: a folder that `oddwire export --lake` has written, or its address. Every file is verified before it is used. An import that was interrupted continues where it ended. The next start of the service continues from the last block, and its audit compares what was imported with your own endpoints.",
    )
    .requiredOption(
      "--lake <folder or url>",
      "the folder of the lake, or its http or https address",
    )
    .option(
      "--verify-key <path>",
      "a public key (Ed25519, PEM) that the manifest has to be signed with",
    )
    .addOption(
      new Option("--key-file <path>", "an admin key, when another service serves the lake"),
    )
    .option("--allow-private", "follow redirects to loopback and private addresses")
    .option("--data-dir <path>", "the data directory (default: ODDWIRE_DATA_DIR)")
    .action(lazily(async () => (await import("./import-command.ts")).importCommand));
  addExamples(command, [
    "oddwire import --lake ./lake",
    "oddwire import --lake https://data.example.com/lake --verify-key lake.pem",
    "oddwire import --lake https://oddwire.example.com/v1/lake --key-file ./admin-key",
  ]);
}
