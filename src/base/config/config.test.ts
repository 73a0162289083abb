import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConfigError, formatConfig, readClientConfig, readConfig } from "./config.ts";

const serving = { ODDWIRE_RPC_URLS: "https://node.example.com/v2/secret-token" };
const folder = mkdtempSync(join(tmpdir(), "oddwire-config-"));
after(() => rmSync(folder, { recursive: true }));

function getMistakes(environment: Record<string, string>): readonly string[] {
  try {
    readConfig("serve", environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  return [];
}

test("unset and empty variables get their defaults", () => {
  const config = readConfig("serve", { ...serving, ODDWIRE_ADMIN_KEY: "", HOME: "/" });
  assert.deepEqual(config, {
    rpcUrls: [serving.ODDWIRE_RPC_URLS],
    rpcCallsPerSecond: null,
    rpcMinority: "stop",
    blocksAheadSecondsMax: 900,
    chainId: 137,
    startBlock: "latest",
    contractsFile: null,
    wallets: "on",
    dataDir: "./data",
    host: "127.0.0.1",
    lakeDir: null,
    lakeSignKey: null,
    port: 8080,
    metricsPort: null,
    adminKey: null,
    hmacPepper: null,
    clickhouseCluster: null,
    clickhouseDatabase: "oddwire",
    clickhousePassword: null,
    clickhouseUrl: null,
    clickhouseUser: "default",
    redisUrl: null,
    limitsWithoutRedis: "share",
    venue: "none",
    venueRestUrl: "https://clob.polymarket.com",
    venueMarketsMax: 1000,
    venueMetadataUrl: "https://gamma-api.polymarket.com",
    venueWsUrl: "wss://ws-subscriptions-clob.polymarket.com/ws/market",
    venueImages: [],
    corsOrigins: [],
    trustedProxies: [],
    keepAliveSeconds: 65,
    publicRead: 0,
    publicMetrics: 0,
    authFailuresMax: 20,
    rateLimitRead: 1000,
    rateLimitWrite: 2000,
    rateLimitAdmin: 5000,
    rateLimitIp: 100,
    exportRowsMax: 1_000_000,
    connectionsPerIp: 1000,
    streamConnectionsRead: 10,
    streamConnectionsWrite: 50,
    streamConnectionsAdmin: 200,
    streamConnectionsIp: 50,
    streamSubscriptions: 1000,
    readyLagSecondsMax: 60,
    auditCallsPerMinute: 180,
    logLevel: "info",
  });
});

test("lists, numbers and URLs are parsed", () => {
  const config = readConfig("serve", {
    ODDWIRE_RPC_URLS: "http://127.0.0.1:8545, wss://node.example.com",
    ODDWIRE_START_BLOCK: "4023686",
    ODDWIRE_PORT: "0",
    ODDWIRE_CORS_ORIGINS: "https://app.example.com,http://localhost:3000",
    ODDWIRE_TRUSTED_PROXIES: "10.0.0.0/8,::1",
  });
  assert.deepEqual(config.rpcUrls, ["http://127.0.0.1:8545", "wss://node.example.com"]);
  assert.equal(config.startBlock, 4_023_686);
  assert.equal(config.port, 0);
  assert.deepEqual(config.corsOrigins, ["https://app.example.com", "http://localhost:3000"]);
  assert.deepEqual(config.trustedProxies, ["10.0.0.0/8", "::1"]);
});

test("all mistakes are reported together", () => {
  const mistakes = getMistakes({
    ODDWIRE_RPC_URLS: "ftp://node.example.com/secret-token",
    ODDWIRE_PORT: "80a",
    ODDWIRE_CHAIN_ID: "0",
    ODDWIRE_CORS_ORIGINS: "https://app.example.com/path",
    ODDWIRE_PROT: "8080",
    ODDWIRE_SOMETHING_ELSE: "1",
  });
  assert.deepEqual(mistakes, [
    "ODDWIRE_PROT is not a setting; did you mean ODDWIRE_PORT?",
    "ODDWIRE_SOMETHING_ELSE is not a setting",
    "ODDWIRE_RPC_URLS must be a comma list of http, https, ws or wss URLs",
    'ODDWIRE_CHAIN_ID must be a whole number from 1 to 9007199254740991, not "0"',
    'ODDWIRE_PORT must be a whole number from 0 to 65535, not "80a"',
    "ODDWIRE_CORS_ORIGINS must be a comma list of origins such as https://app.example.com, or *" +
      ', not "https://app.example.com/path"',
  ]);
});

test("unsupported URLs and venues are refused with the reason", () => {
  const unsupported = {
    ODDWIRE_CLICKHOUSE_URL: "http://db:8123/path",
    ODDWIRE_VENUE: "kalshi",
    ODDWIRE_GAMMA_URL: "https://user:password@venue.example",
  };
  const mistakes = getMistakes({ ...serving, ...unsupported });
  const about = (name: string) => mistakes.find((mistake) => mistake.startsWith(name));
  const [clickhouse, venue] = ["ODDWIRE_CLICKHOUSE_URL", "ODDWIRE_VENUE"].map(about);
  assert.match(
    about("ODDWIRE_GAMMA_URL") ?? "",
    /must be an http or https URL without a user name$/,
    "and the password is not shown",
  );
  assert.match(
    clickhouse ?? "",
    /ODDWIRE_CLICKHOUSE_URL must be an http or https URL without a user name, path or query/,
  );
  assert.match(venue ?? "", /ODDWIRE_VENUE must be none or polymarket/);
});

test("RPC URLs are required to serve, not to administer", () => {
  const [port, required] = getMistakes({ ODDWIRE_PORT: "x" });
  assert.match(port ?? "", /^ODDWIRE_PORT must be/);
  assert.match(required ?? "", /^ODDWIRE_RPC_URLS is required/);
  assert.equal(getMistakes({ ODDWIRE_RPC_URLS: "x" }).length, 1, "one mistake is reported once");
  assert.deepEqual(readConfig("administer", {}).rpcUrls, []);
});

test("a secret can be read from a file, but not be given twice", () => {
  const path = join(folder, "pepper");
  writeFileSync(path, `${"p".repeat(32)}\n`);
  assert.equal(
    readConfig("serve", { ...serving, ODDWIRE_HMAC_PEPPER_FILE: path }).hmacPepper,
    "p".repeat(32),
  );
  const both = { ...serving, ODDWIRE_HMAC_PEPPER_FILE: path, ODDWIRE_HMAC_PEPPER: "q".repeat(32) };
  assert.deepEqual(getMistakes(both), [
    "Give ODDWIRE_HMAC_PEPPER or ODDWIRE_HMAC_PEPPER_FILE, not both",
  ]);
  const absent = { ...serving, ODDWIRE_ADMIN_KEY_FILE: join(folder, "absent") };
  assert.match(getMistakes(absent)[0] ?? "", /^ODDWIRE_ADMIN_KEY_FILE cannot be read: ENOENT/);
  assert.match(
    getMistakes({ ...serving, ODDWIRE_PORT_FILE: path })[0] ?? "",
    /ODDWIRE_PORT_FILE is not a setting/,
  );
});

test("a mistake never repeats a secret", () => {
  const mistakes = getMistakes({ ...serving, ODDWIRE_HMAC_PEPPER: "too-short" });
  assert.deepEqual(mistakes, ["ODDWIRE_HMAC_PEPPER must be at least 32 characters"]);
});

test("the key of a lake is an Ed25519 key", () => {
  const pem = (kind: "ed25519" | "x25519") =>
    generateKeyPairSync(kind as "ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
  const read = (key: string) => readConfig("administer", { ODDWIRE_LAKE_SIGN_KEY: key });
  const key = String(pem("ed25519")).trim();
  assert.equal(read(key).lakeSignKey, key);
  for (const wrong of ["text", String(pem("x25519"))]) {
    assert.throws(() => read(wrong), /ODDWIRE_LAKE_SIGN_KEY must be an Ed25519 private key in PEM/);
  }
});

test("the printed configuration hides secrets and the paths of endpoints", () => {
  const printed = formatConfig(
    readConfig("serve", { ...serving, ODDWIRE_HMAC_PEPPER: "p".repeat(32) }),
  );
  assert.match(printed, /^ODDWIRE_RPC_URLS=node\.example\.com$/m);
  assert.match(printed, /^ODDWIRE_HMAC_PEPPER=\*\*\*$/m);
  assert.match(printed, /^ODDWIRE_ADMIN_KEY=$/m);
  assert.match(printed, /^# The port .* \(a whole number from 0 to 65535\)\nODDWIRE_PORT=8080$/m);
  assert.doesNotMatch(printed, /secret-token|pppp/);
});

test("a wrong admin key is reported with the other mistakes, without its value", () => {
  const mistakes = getMistakes({ ...serving, ODDWIRE_PORT: "x", ODDWIRE_ADMIN_KEY: "ow_read_1" });
  assert.equal(mistakes.length, 2);
  assert.match(mistakes.join(), /ODDWIRE_ADMIN_KEY must be an admin key/);
  assert.doesNotMatch(mistakes.join(), /ow_read_1/);
});

test("client commands have their own settings, which the service accepts", () => {
  const environment = { ODDWIRE_URL: "https://data.example.com", ODDWIRE_API_KEY: "ow_read_x" };
  assert.deepEqual(readClientConfig(environment), {
    url: "https://data.example.com",
    key: "ow_read_x",
  });
  assert.deepEqual(readClientConfig({}), { url: "http://127.0.0.1:8080", key: null });
  assert.deepEqual(getMistakes({ ...serving, ...environment }), []);
  assert.throws(() => readClientConfig({ ODDWIRE_URL: "data" }), /ODDWIRE_URL must be an http/);
});

test("the address of a ClickHouse server cannot contradict its other settings", () => {
  for (const url of [
    "http://someone:x@db:8123",
    "http://db:8123/?database=other",
    "http://db/#x",
  ]) {
    const [mistake, ...others] = getMistakes({ ...serving, ODDWIRE_CLICKHOUSE_URL: url });
    assert.match(mistake ?? "", /ODDWIRE_CLICKHOUSE_URL must be an http or https URL without/);
    assert.doesNotMatch(mistake ?? "", /someone/);
    assert.deepEqual(others, []);
  }
});
