import { type Command, InvalidArgumentError, Option } from "commander";
import { addExamples, lazily } from "../command.ts";
import { exportFilters, exportLists, fileEndings } from "./export-options.ts";

/** Adds the commands that call a running service. */
export function addClientCommands(program: Command): void {
  addStatus(program);
  addTail(program);
  addExport(program);
  addMcp(program);
}

function addApiOptions(command: Command): Command {
  return command
    .option("--url <url>", "the service (default: ODDWIRE_URL, else http://127.0.0.1:8080)")
    .addOption(
      new Option("--key <key>", "an API key (default: ODDWIRE_API_KEY)").conflicts("keyFile"),
    )
    .option("--key-file <path>", "a file with the API key, which keeps it out of process lists");
}

function addStatus(program: Command): void {
  const status = program
    .command("status")
    .summary("show whether a service is ready, and why not")
    .description(
      "Shows whether a service is ready. Needs no key: one that is given is not sent. Exits with 0 when it is ready, and with 1 when it is not or cannot be reached.",
    )
    .option("--json", "print one JSON object");
  addApiOptions(status).action(
    lazily(async () => (await import("./status-command.ts")).showStatus),
  );
  addExamples(status, ["oddwire status", "oddwire status --url https://data.example.com --json"]);
}

function addTail(program: Command): void {
  const tail = program
    .command("tail")
    .summary("print trades as they happen")
    .description(
      "Prints the newest ten trades, or all since a time, and then trades as they happen. Filters are combined.",
    )
    .option("--market <id>", "only this market: a condition id, a token id or a slug")
    .option("--wallet <address>", "only trades of this wallet, as maker or taker")
    .addOption(new Option("--side <side>", "only this taker side").choices(["BUY", "SELL"]))
    .option("--min-value <usd>", "only trades worth at least this many US dollars")
    .option("--since <time>", "start at this time, such as 2026-11-01T00:00:00Z")
    .option("--json", "print one JSON row per line");
  addApiOptions(tail).action(lazily(async () => (await import("./print-trades.ts")).tail));
  addExamples(tail, [
    "oddwire tail --key-file ./key --min-value 1000",
    "oddwire tail --url https://data.example.com --market SLUG --json",
  ]);
}

function addMcp(program: Command): void {
  const mcp = program
    .command("mcp")
    .summary("serve the Model Context Protocol for agents")
    .description(
      "Lets agents read from a service, over the Model Context Protocol: on standard input and output, or with --http on a port of this machine. It has no tool that writes. Give it a key of scope read.",
    )
    .addOption(
      new Option(
        "--http <port>",
        "serve streamable HTTP at /mcp of this port of 127.0.0.1; 0 picks a free one",
      ).argParser(parsePort),
    );
  addApiOptions(mcp).action(lazily(async () => (await import("../mcp/mcp-command.ts")).serveMcp));
  addExamples(mcp, ["oddwire mcp --key-file ./key", "oddwire mcp --http 8081 --key-file ./key"]);
}

/** Reads a port. Throws the error of a wrong argument. */
function parsePort(text: string): number {
  const port = Number(text);
  if (!/^[0-9]+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
}

function addExport(program: Command): void {
  const command = program
    .command("export")
    .summary("write a list to files, oldest rows first")
    .description(
      "Writes a list of a running service to files, oldest rows first. With --lake, writes all final days as Parquet files from the data directory or the ClickHouse server, without a running service; only days that the folder does not have are added. Each response becomes one file. If there is more, PATH.2, PATH.3 and so on follow, numbered before the extension. A file gets its name when it is complete. Failed downloads are retried. The same command resumes after the last complete file.",
    )
    .addArgument(program.createArgument("[list]", "what to export").choices(exportLists))
    .option("--out <path>", `file to write; ends in ${fileEndings}`)
    .option("--lake <folder>", "write final days to this folder instead of a list")
    .option("--from <date>", "first day of a new lake, such as 2026-11-01 (default: the first day)")
    .option("--to <date>", "last day of the lake (default: the last final day)")
    .option(
      "--sign-key <path>",
      "a private key (Ed25519, PEM) to sign the manifest of the lake with",
    )
    .option("--data-dir <path>", "the data directory for --lake (default: ODDWIRE_DATA_DIR)");
  for (const [flags, , description, choices] of exportFilters) {
    const option = new Option(flags, description);
    command.addOption(choices === undefined ? option : option.choices(choices));
  }
  addApiOptions(command).action(
    lazily(async () => (await import("./export-command.ts")).exportList),
  );
  addExamples(command, [
    "oddwire export trades --out trades.parquet --key-file ./key",
    "oddwire export trades --start 2026-11-01T00:00:00Z --out november.csv",
    "oddwire export markets --out markets.ndjson",
    "oddwire export --lake ./lake --data-dir ./data",
    "oddwire export candles --token 5292...5859 --resolution 1m --out candles.ndjson",
  ]);
}
