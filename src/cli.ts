#!/usr/bin/env node
/**
 * The command line: finds the command, reads its words, runs it, and turns what goes wrong into an
 * exit code: 0 done, 1 wrong configuration or use, 70 a bug, 75 try again.
 */
import { parseArgs } from "node:util";
import { systemClock } from "./base/clock.ts";
import { ConfigError, formatConfig, readConfig } from "./base/config.ts";
import { AppError, toError } from "./base/errors.ts";
import { openLog } from "./base/log.ts";
import { version } from "./base/version.ts";
import { WrongChainError } from "./chain/chain-errors.ts";
import { Service } from "./main.ts";
import { printTrades } from "./print-trades.ts";
import { AccessStore } from "./store/access-store.ts";
import {
  DataFolderBusyError,
  DataFolderDamagedError,
  DataFolderUnwritableError,
} from "./store/chdb-engine.ts";
import { type Scope, scopes } from "./store/key-format.ts";

const usage = `oddwire ${version}: a data service for prediction-market exchanges

  oddwire serve                     index the chain and serve it; settings are ODDWIRE_* variables
  oddwire keys create               print a new API key
      --scope read|write|admin        what it may do (default read)
      --name NAME                     how it is listed (default: made up)
  oddwire config                    print the settings in force
  oddwire tail                      print trades as they happen
      --url URL                       of the service (default http://127.0.0.1:8080)
      --key KEY                       an API key
      --json                          one JSON row a line
  oddwire help                      this text
`;

/** A mistake in the words after `oddwire`. */
class UsageError extends Error {
  override name = "UsageError";
}

const exitCodes = { done: 0, misused: 1, bug: 70, tryAgain: 75 } as const;

process.exitCode = await run(process.argv.slice(2));

async function run(words: readonly string[]): Promise<number> {
  try {
    return await runCommand(words);
  } catch (thrown) {
    const error = toError(thrown);
    const code = exitCodeOf(error);
    process.stderr.write(code === exitCodes.bug ? `${error.stack}\n` : `${plain(error)}\n`);
    return code;
  }
}

async function runCommand(words: readonly string[]): Promise<number> {
  const [command = "help", ...rest] = words;
  switch (command) {
    case "serve":
      refuseWords(rest);
      return serve();
    case "keys":
      return createKey(rest);
    case "config":
      refuseWords(rest);
      process.stdout.write(formatConfig(readConfig("administer")));
      return exitCodes.done;
    case "tail":
      return tail(rest);
    case "help":
    case "--help":
    case "-h":
      process.stdout.write(usage);
      return exitCodes.done;
    case "--version":
      process.stdout.write(`${version}\n`);
      return exitCodes.done;
    default:
      throw new UsageError(`there is no command ${command}; see oddwire help`);
  }
}

async function serve(): Promise<number> {
  const config = readConfig("serve");
  const log = openLog({ level: config.logLevel });
  const stopped = awaitSignal();
  const service = await Service.open(config, log);
  process.stdout.write(`${JSON.stringify({ listening: service.url, version })}\n`);
  const failure = await Promise.race([stopped, service.failed]);
  await service.close();
  if (failure === null) return exitCodes.done;
  process.stderr.write(`oddwire: indexing has stopped, start again: ${failure.message}\n`);
  return exitCodes.tryAgain;
}

async function createKey(words: readonly string[]): Promise<number> {
  const [action, ...rest] = words;
  if (action !== "create") throw new UsageError("say what to do with keys: oddwire keys create");
  const { scope = "read", name } = readOptions(rest, {
    scope: { type: "string" },
    name: { type: "string" },
  });
  if (!isScope(scope)) throw new UsageError(`--scope is one of ${scopes.join(", ")}`);
  const { dataDir, hmacPepper, adminKey } = readConfig("administer");
  const clock = systemClock;
  const log = openLog({ level: "warn" });
  const access = AccessStore.open({ dataDir, pepper: hmacPepper, adminKey, clock, log });
  try {
    const made = await access.keys.create({
      name: String(name ?? `${scope} ${new Date(clock.nowMs()).toISOString()}`),
      scope,
      expiresAtMs: null,
      allowedIps: [],
    });
    process.stdout.write(`${made.value}\n`);
    return exitCodes.done;
  } finally {
    access.close();
  }
}

async function tail(words: readonly string[]): Promise<number> {
  const options = readOptions(words, {
    url: { type: "string" },
    key: { type: "string" },
    json: { type: "boolean" },
  });
  const { url = "http://127.0.0.1:8080", key } = options;
  if (typeof key !== "string") throw new UsageError("--key is required");
  const abort = new AbortController();
  void awaitSignal().then(() => abort.abort());
  await printTrades({
    url: String(url),
    key,
    asJson: options["json"] === true,
    write: (line) => process.stdout.write(`${line}\n`),
    signal: abort.signal,
  });
  return exitCodes.done;
}

function readOptions(
  words: readonly string[],
  options: Readonly<Record<string, { type: "string" | "boolean" }>>,
): Readonly<Record<string, string | boolean | undefined>> {
  try {
    return parseArgs({ args: [...words], options, strict: true }).values;
  } catch (thrown) {
    throw new UsageError(toError(thrown).message, { cause: thrown });
  }
}

function refuseWords(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`${words[0]} is not understood here`);
}

function isScope(text: unknown): text is Scope {
  return scopes.some((scope) => scope === text);
}

/** Resolves with `null` at the first request to stop; a second one ends the process at once. */
function awaitSignal(): Promise<null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(null));
  return promise;
}

function exitCodeOf(error: Error): number {
  const isPassing = [DataFolderBusyError, DataFolderUnwritableError];
  if (isPassing.some((kind) => error instanceof kind)) return exitCodes.tryAgain;
  const isMisuse = [ConfigError, UsageError, WrongChainError, DataFolderDamagedError, AppError];
  return isMisuse.some((kind) => error instanceof kind) || isAddressError(error)
    ? exitCodes.misused
    : exitCodes.bug;
}

/** A port in use or a host that is not ours is a setting that does not fit. */
function isAddressError(error: Error): boolean {
  return ["EADDRINUSE", "EADDRNOTAVAIL", "EACCES"].includes(
    (error as NodeJS.ErrnoException).code ?? "",
  );
}

function plain(error: Error): string {
  if (!(error instanceof ConfigError)) return `oddwire: ${error.message}`;
  const mistakes = error.mistakes.map((mistake) => `  - ${mistake}`);
  return ["oddwire: the configuration is not right:", ...mistakes].join("\n");
}
