import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { toError } from "../errors.ts";
import { isIpRange } from "../ip-address.ts";
import type { LogLevel } from "../log.ts";
import { nearName } from "../near-name.ts";
import { chainSettings } from "./chain-settings.ts";
import { webLimits } from "./limits.ts";
import { serverSettings } from "./server-settings.ts";
import {
  type Environment,
  formatValue,
  getList,
  hasCredentials,
  isOrigin,
  isUrl,
  oneWord,
  readValues,
  type Setting,
  setting,
  type Value,
  wholeNumber,
  withoutMark,
} from "./setting.ts";

/** All settings of the service. `Config` has a field for each. */
const settings = {
  ...chainSettings,
  wallets: setting<"on" | "off">({
    variable: "ODDWIRE_WALLETS",
    description: "Whether to index what wallets hold, from twice as many logs",
    ...oneWord("on", "off"),
  }),
  dataDir: setting({
    variable: "ODDWIRE_DATA_DIR",
    flag: "data-dir",
    description: "The data directory: everything that the service stores",
    form: "a path",
    fallback: "./data",
    read: (text) => text,
  }),
  lakeDir: setting<string | null>({
    variable: "ODDWIRE_LAKE_DIR",
    description:
      "A folder to which the service appends each final day as Parquet, and from which it serves it at /v1/lake",
    form: "a path",
    fallback: null,
    read: (text) => text,
  }),
  lakeSignKey: setting<string | null>({
    variable: "ODDWIRE_LAKE_SIGN_KEY",
    description: "A private key that the manifest of the lake is signed with",
    form: "an Ed25519 private key in PEM",
    fallback: null,
    read: (text) => (isEd25519Key(text) ? text : null),
    secret: true,
  }),
  ...serverSettings,
  host: setting({
    variable: "ODDWIRE_HOST",
    description: "The address the service listens on",
    form: "a host name or an IP address",
    fallback: "127.0.0.1",
    read: (text) => (/^[A-Za-z0-9.:_-]+$/.test(text) ? text : null),
  }),
  port: setting({
    variable: "ODDWIRE_PORT",
    flag: "port",
    description: "The port the service listens on; 0 picks a free one",
    ...wholeNumber({ min: 0, max: 65_535, fallback: 8080 }),
  }),
  metricsPort: setting<number | null>({
    variable: "ODDWIRE_METRICS_PORT",
    description:
      "A second port that serves GET /metrics to Prometheus without a key; off when unset",
    ...wholeNumber({ min: 0, max: 65_535, fallback: 0 }),
    fallback: null,
  }),
  adminKey: setting<string | null>({
    variable: "ODDWIRE_ADMIN_KEY",
    description: "A first admin key",
    form: "an admin key as `oddwire keys create` prints it, ow_admin_...",
    fallback: null,
    // `access/` checks the key completely, but only after all other mistakes are reported.
    read: (text) => (/^ow_admin_\w+$/.test(text) ? text : null),
    secret: true,
  }),
  hmacPepper: setting<string | null>({
    variable: "ODDWIRE_HMAC_PEPPER",
    description:
      "Secret that stored keys are hashed with; without it, one is created in the data directory",
    form: "at least 32 characters",
    fallback: null,
    read: (text) => (text.length >= 32 ? text : null),
    secret: true,
  }),
  venue: setting<"none" | "polymarket">({
    variable: "ODDWIRE_VENUE",
    flag: "venue",
    description: "The source of order books and market metadata, which are not on the chain",
    ...oneWord("none", "polymarket"),
  }),
  venueRestUrl: setting({
    variable: "ODDWIRE_CLOB_URL",
    description: "The venue's order books over HTTP: POST /books below it",
    form: "an http or https URL without a user name",
    fallback: "https://clob.polymarket.com",
    read: (text) => (isFetchable(text) ? text : null),
  }),
  venueWsUrl: setting({
    variable: "ODDWIRE_CLOB_WS_URL",
    description: "The venue's market channel over WebSocket",
    form: "a ws or wss URL",
    fallback: "wss://ws-subscriptions-clob.polymarket.com/ws/market",
    read: (text) => (isUrl(text, /^wss?:$/) ? text : null),
  }),
  venueMetadataUrl: setting({
    variable: "ODDWIRE_GAMMA_URL",
    description: "The venue's market metadata: GET /markets/keyset below it",
    form: "an http or https URL without a user name",
    fallback: "https://gamma-api.polymarket.com",
    read: (text) => (isFetchable(text) ? text : null),
  }),
  venueMarketsMax: setting({
    variable: "ODDWIRE_VENUE_MARKETS_MAX",
    description:
      "How many of the venue's most traded open markets are listed before their first indexed trade",
    ...wholeNumber({ min: 0, max: 100_000, fallback: 1000 }),
  }),
  venueImages: setting<readonly string[]>({
    variable: "ODDWIRE_VENUE_IMAGES",
    description:
      "Origins from which the explorer may load pictures of markets; browsers then connect to them",
    form: "a comma list of https origins such as https://images.example.com",
    fallback: [],
    read: getList((text) => isOrigin(text) && text.startsWith("https:")),
  }),
  corsOrigins: setting<readonly string[]>({
    variable: "ODDWIRE_CORS_ORIGINS",
    description: "Origins whose pages may call the service from a browser",
    form: "a comma list of origins such as https://app.example.com, or *",
    fallback: [],
    read: getList((text) => text === "*" || isOrigin(text)),
  }),
  trustedProxies: setting<readonly string[]>({
    variable: "ODDWIRE_TRUSTED_PROXIES",
    description: "Proxies whose X-Forwarded-For is used",
    form: "a comma list of IP addresses and CIDR ranges",
    fallback: [],
    read: getList(isIpRange),
  }),
  keepAliveSeconds: setting({
    variable: "ODDWIRE_KEEP_ALIVE_SECONDS",
    description:
      "How long an idle HTTP connection stays open, in seconds; longer than the proxy in front keeps it",
    ...wholeNumber({ min: 1, max: 3600, fallback: webLimits.keepAliveSeconds }),
  }),
  publicRead: setting({
    variable: "ODDWIRE_PUBLIC_READ",
    description:
      "1: read access without a key, for the API, the stream and the explorer, rate-limited by IP address",
    ...wholeNumber({ min: 0, max: 1, fallback: 0 }),
  }),
  publicMetrics: setting({
    variable: "ODDWIRE_PUBLIC_METRICS",
    description: "1: metrics without a key, rate-limited by IP address",
    ...wholeNumber({ min: 0, max: 1, fallback: 0 }),
  }),
  authFailuresMax: setting({
    variable: "ODDWIRE_AUTH_MAX_FAILURES",
    description: "Failed authentications in 5 minutes that block an IP; 0 never blocks",
    ...wholeNumber({ min: 0, max: 10_000, fallback: 20 }),
  }),
  rateLimitRead: rateLimit("read", webLimits.keyRequestsPerMinute.read),
  rateLimitWrite: rateLimit("write", webLimits.keyRequestsPerMinute.write),
  rateLimitAdmin: rateLimit("admin", webLimits.keyRequestsPerMinute.admin),
  rateLimitIp: rateLimit("ip", webLimits.ipRequestsPerMinute, "IP (IPv6: /64), without a key"),
  exportRowsMax: setting({
    variable: "ODDWIRE_EXPORT_MAX_ROWS",
    description: "Rows of one export in ndjson, csv, parquet or arrow",
    ...wholeNumber({ min: 1, max: 1_000_000_000, fallback: 1_000_000 }),
  }),
  connectionsPerIp: setting({
    variable: "ODDWIRE_CONNECTIONS_PER_IP",
    description:
      "Connections of one IP address (IPv6: /64), HTTP and stream together; trusted proxies have no limit",
    ...wholeNumber({ min: 1, max: 10_000, fallback: 1000 }),
  }),
  streamConnectionsRead: streamConnections("READ", "read key", 10),
  streamConnectionsWrite: streamConnections("WRITE", "write key", 50),
  streamConnectionsAdmin: streamConnections("ADMIN", "admin key", 200),
  streamConnectionsIp: streamConnections("IP", "IP address (IPv6: /64)", 50),
  streamSubscriptions: setting({
    variable: "ODDWIRE_STREAM_SUBSCRIPTIONS",
    description: "Subscriptions of one stream connection",
    ...wholeNumber({ min: 1, max: 10_000, fallback: 1000 }),
  }),
  readyLagSecondsMax: setting({
    variable: "ODDWIRE_READY_MAX_LAG_SECONDS",
    description:
      "Lag behind the head, in seconds of chain time, above which the service is not ready",
    ...wholeNumber({ min: 1, max: 86_400, fallback: 60 }),
  }),
  auditCallsPerMinute: setting({
    variable: "ODDWIRE_AUDIT_CALLS_PER_MINUTE",
    description: "JSON-RPC calls a minute for the audit of stored blocks; 0 disables it",
    ...wholeNumber({ min: 0, max: 60_000, fallback: 180 }),
  }),
  logLevel: setting<LogLevel>({
    variable: "ODDWIRE_LOG_LEVEL",
    description: "The lowest level that is logged",
    form: `one of ${logLevels().join(", ")}`,
    fallback: "info",
    read: (text) => logLevels().find((level) => level === text) ?? null,
  }),
};

const clientSettings = {
  url: setting({
    variable: "ODDWIRE_URL",
    description: "The service that tail, export and other client commands call",
    form: "an http or https URL without a user name",
    fallback: "http://127.0.0.1:8080",
    read: (text) => (isFetchable(text) ? text : null),
  }),
  key: setting<string | null>({
    variable: "ODDWIRE_API_KEY",
    description: "The API key that client commands send",
    form: "a key as `oddwire keys create` prints it",
    fallback: null,
    read: (text) => text,
    secret: true,
  }),
};

type Settings = Readonly<Record<string, { readonly fallback: Value }>>;
type SettingValues<Known extends Settings> = {
  readonly [Name in keyof Known]: Known[Name]["fallback"];
};

/** The configuration of the service. */
export type Config = SettingValues<typeof settings>;

/** The configuration of client commands: the service to call, and the key to send. */
export type ClientConfig = SettingValues<typeof clientSettings>;

/** All mistakes in the configuration, a sentence each. The process exits with code 2. */
export class ConfigError extends Error {
  override name = "ConfigError";
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join("\n"));
    this.mistakes = mistakes;
  }
}

/** The role of a process: the whole service (`serve`), or a part of a cluster (`index`, `api`). */
export type Role = (typeof roles)[number];

/** All roles (see `Role`). */
export const roles = ["serve", "index", "api"] as const;

const required: Readonly<Record<Role, readonly (keyof typeof settings)[]>> = {
  serve: ["rpcUrls"],
  index: ["rpcUrls", "clickhouseUrl", "redisUrl", "hmacPepper"],
  api: ["clickhouseUrl", "redisUrl", "hmacPepper"],
};

/**
 * Reads the `ODDWIRE_*` variables. Throws one `ConfigError` with all mistakes, including unknown names.
 * `administer` is for commands that do not use the chain.
 */
export function readConfig(
  purpose: Role | "administer",
  environment: Environment = process.env,
): Config {
  const mistakes = unknownNames(environment);
  const config = readValues(settings, environment, mistakes) as Config;
  const requested = purpose === "administer" ? [] : required[purpose];
  for (const name of requested.filter((field) => config[field] === settings[field].fallback)) {
    const { variable, form, flag } = settings[name];
    // A value that was refused is reported already.
    if (environment[variable] || environment[`${variable}_FILE`]) continue;
    mistakes.push(`${variable} is required${flag ? ` (or --${flag})` : ""}: ${form}`);
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

/** Reads the settings of client commands. Throws `ConfigError`. */
export function readClientConfig(environment: Environment = process.env): ClientConfig {
  const mistakes: string[] = [];
  const config = readValues(clientSettings, environment, mistakes) as ClientConfig;
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

/** Adds the variables of `.env` in the working folder, if it exists. Variables that are already set take precedence. */
export function readEnvFile(): void {
  try {
    const variables = parseEnv(withoutMark(readFileSync(".env", "utf8")));
    for (const [name, value] of Object.entries(variables)) process.env[name] ??= value;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return;
    throw new ConfigError([`.env cannot be read: ${toError(thrown).message}`]);
  }
}

/** Returns the environment, overridden by variables from the command line. */
export function environmentWith(variables: Environment): Environment {
  return { ...process.env, ...variables };
}

/** Sets the size of Node's thread pool, unless the operator has. Call this before the pool is used. */
export function setPoolThreads(threads: number): void {
  process.env["UV_THREADPOOL_SIZE"] ??= String(threads);
}

/** Sets the folder in which Node and its threads cache compiled code, unless the operator has. */
export function setCompiledCodeFolder(path: string): void {
  process.env["NODE_COMPILE_CACHE"] ??= path;
}

/** Returns every setting, in the order of `formatConfig`. `docs/configuration.md` is generated from this. */
export function allSettings(): readonly Setting<Value>[] {
  return [settings, clientSettings].flatMap((table) => Object.values<Setting<Value>>(table));
}

/** Formats the configuration as lines `NAME=value`, each below a comment. Secrets are `***`, endpoints only hosts. */
export function formatConfig(config: Config): string {
  const values: Readonly<Record<string, Value>> = config;
  const lines = Object.entries<Setting<Value>>(settings).map(([field, definition]) => {
    const value = values[field] ?? null;
    const text = definition.secret && value !== null ? "***" : formatValue(definition, value);
    return `# ${definition.description} (${definition.form})\n${definition.variable}=${text}`;
  });
  return `${lines.join("\n")}\n`;
}

function unknownNames(environment: Environment): string[] {
  const names = new Set<string>();
  for (const { variable, secret } of allSettings()) {
    names.add(variable);
    if (secret) names.add(`${variable}_FILE`);
  }
  return Object.keys(environment)
    .filter((name) => name.startsWith("ODDWIRE_") && !names.has(name))
    .map((name) => {
      const suggestion = nearName(name, names);
      return `${name} is not a setting${suggestion === null ? "" : `; did you mean ${suggestion}?`}`;
    });
}

/** Defines a rate limit. Its maximum bounds the memory of a window, which needs 8 bytes for each request. */
function rateLimit(name: string, fallback: number, caller = `${name} key`): Setting<number> {
  return setting({
    variable: `ODDWIRE_RATE_LIMIT_${name.toUpperCase()}`,
    description: `Requests of one ${caller} in any 60 seconds`,
    ...wholeNumber({ min: 1, max: 10_000_000, fallback }),
  });
}

function streamConnections(name: string, owner: string, fallback: number): Setting<number> {
  return setting({
    variable: `ODDWIRE_STREAM_CONNECTIONS_${name}`,
    description: `Stream connections of one ${owner}`,
    ...wholeNumber({ min: 1, max: 10_000, fallback }),
  });
}

/** Whether `fetch` accepts a URL. It refuses URLs with a user name or a password. */
function isFetchable(text: string): boolean {
  return isUrl(text, /^https?:$/) && !hasCredentials(text);
}

function isEd25519Key(text: string): boolean {
  try {
    return createPrivateKey(text).asymmetricKeyType === "ed25519";
  } catch {
    return false;
  }
}

function logLevels(): readonly LogLevel[] {
  return ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
}
