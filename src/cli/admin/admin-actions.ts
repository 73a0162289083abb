import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ApiKey, getStatus, type KeyPosition } from "../../access/api-key.ts";
import { isKeyName, keyNameRule, type Scope, toComparedName } from "../../access/key-format.ts";
import type { Keys } from "../../access/keys.ts";
import { accessFileName } from "../../access/local/local-access.ts";
import { parseTime } from "../../api/http/parameters.ts";
import { parseBucket, showBlock } from "../../api/routes/admin/ip-block-routes.ts";
import { showKey } from "../../api/routes/admin/key-routes.ts";
import { type Config, readConfig } from "../../base/config/config.ts";
import { webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { isIpRange } from "../../base/ip-address.ts";
import { systemClock } from "../../base/time/clock.ts";
import { formatTable, print, printOnce, UsageError } from "../command.ts";
import { toEnvironment } from "../service/setting-flags.ts";
import { withAccess } from "./with-access.ts";

const pageKeys = 1000;
const graceSecondsMax = 86_400;

/** The data directory, if it is not that of the settings. */
type FolderOption = { readonly dataDir?: string | undefined };

function getConfig({ dataDir }: FolderOption): Config {
  return readConfig("administer", toEnvironment({ dataDir }));
}

/**
 * Returns the configuration of keys that exist: those of a cluster, or of a data directory that has some. Without that
 * check, a command in another folder would create keys that no service accepts.
 */
function getExistingConfig(options: FolderOption): Config {
  const config = getConfig(options);
  const { dataDir, redisUrl } = config;
  if (redisUrl !== null || existsSync(join(dataDir, accessFileName))) return config;
  const where = `${resolve(dataDir)} has no keys, because no service was started there`;
  throw new UsageError(
    `${where}: name the data directory of the service with --data-dir. \`keys create --init\` makes a new one`,
  );
}

/** Creates an API key and prints its value, which is not shown again. */
export async function createKey(
  options: {
    readonly scope?: Scope;
    readonly name?: string;
    readonly expires?: string;
    readonly ips?: string;
    readonly init?: true;
  } & FolderOption,
): Promise<number> {
  const { scope = "read", name, expires, ips, init } = options;
  const config = init === true ? getConfig(options) : getExistingConfig(options);
  const nowMs = systemClock.nowMs();
  if (name !== undefined && !isKeyName(name)) throw new UsageError(`--name is ${keyNameRule}`);
  const { value, key } = await withAccess(
    ({ keys }) =>
      keys.create({
        name: name ?? `${scope} ${new Date(nowMs).toISOString()}`,
        scope,
        expiresAtMs: readExpiry(expires, nowMs),
        allowedIps: readRanges(ips),
      }),
    config,
  );
  if (process.stderr.isTTY) process.stderr.write("Copy the key now; it is not shown again.\n");
  return printKey(value, key.id);
}

/** Prints a key, which is stored only as a hash. */
function printKey(value: string, id: string): Promise<number> {
  const advice = `the key could not be printed and is lost; \`oddwire keys revoke ${id}\` removes it`;
  return printOnce(`${value}\n`, advice);
}

/** Prints the API keys. */
export function listKeys(
  options: FolderOption & { readonly all?: true; readonly json?: true },
): Promise<number> {
  return withAccess(
    async ({ keys }) => {
      const nowMs = systemClock.nowMs();
      const all = await readAll(keys);
      const listed =
        options.all === true ? all : all.filter((key) => getStatus(key, nowMs) === "active");
      if (options.json === true)
        return print(...listed.map((key) => JSON.stringify(showKey(key, nowMs))));
      const heads = ["ID", "PREFIX", "SCOPE", "STATUS", "REQUESTS", "LAST USED", "NAME"];
      return print(formatTable([heads, ...listed.map((key) => toCells(key, nowMs))]));
    },
    getConfig(options),
    "read",
  );
}

/** Issues a new secret for a key and prints it. */
export async function rotateKey(
  name: string,
  options: FolderOption & { readonly grace?: string },
): Promise<number> {
  const { value, key } = await withAccess(async ({ keys }) => {
    const { grace: text = "0" } = options;
    const grace = Number(text);
    if (!/^\d+$/.test(text) || grace > graceSecondsMax)
      throw new UsageError(`--grace is a number of seconds up to ${graceSecondsMax}`);
    return keys.rotate(await getId(keys, name), grace * 1000);
  }, getExistingConfig(options));
  return printKey(value, key.id);
}

/** Revokes a key for good. */
export async function revokeKey(key: string, options: FolderOption): Promise<number> {
  const config = getExistingConfig(options);
  await withAccess(async ({ keys }) => keys.revoke(await getId(keys, key)), config);
  return print("Key revoked");
}

/** Prints the blocked IP addresses. */
export function listIps(options: FolderOption & { readonly json?: true }): Promise<number> {
  return withAccess(
    async ({ ipBlocks }) => {
      const blocks = await ipBlocks.list({ limit: webLimits.ipBlocksMax, after: null });
      const listed = blocks.map(showBlock);
      if (options.json === true) return print(...listed.map((block) => JSON.stringify(block)));
      if (listed.length === 0) return print("No IP address is blocked.");
      const rows = listed.map((block) => Object.values(block).map(String));
      return print(formatTable([["IP", "REASON", "OFFENSES", "SINCE", "UNTIL"], ...rows]));
    },
    getConfig(options),
    "read",
  );
}

/** Unblocks an address. Throws `AppError` when it is not blocked. */
export async function unblockIp(ip: string, options: FolderOption): Promise<number> {
  await withAccess(async ({ ipBlocks }) => {
    const bucket = parseBucket(ip);
    if (bucket === null) throw new UsageError(`${ip} is not an IP address`);
    if (!(await ipBlocks.remove(bucket))) throw new AppError("NOT_FOUND", `${ip} is not blocked`);
  }, getExistingConfig(options));
  return print("IP unblocked");
}

function readExpiry(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  // Epoch times, which the API accepts too, look like dates: 20270131.
  const isEpoch = /^\d*$/.test(text);
  const timeMs = isEpoch ? null : (parseTime(`${text}T00:00:00Z`) ?? parseTime(text));
  if (timeMs === null) throw new UsageError("--expires is a date or an RFC 3339 time");
  if (timeMs <= nowMs) throw new UsageError("--expires lies in the past");
  return timeMs;
}

function readRanges(text: string | undefined): readonly string[] {
  const ranges = text === undefined ? [] : text.split(",").map((range) => range.trim());
  const wrong = ranges.find((range) => !isIpRange(range));
  if (wrong !== undefined)
    throw new UsageError(`--ips: ${wrong} is not an IP address or a CIDR range`);
  return ranges;
}

async function readAll(keys: Keys): Promise<readonly ApiKey[]> {
  const all: ApiKey[] = [];
  for (let after: KeyPosition | null = null; ; ) {
    const page: readonly ApiKey[] = await keys.list({ limit: pageKeys, after });
    all.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < pageKeys) return all;
    after = last;
  }
}

/** Finds a key by id, then by name. Names are unique among active keys only, and a name can look like an id. */
async function getId(keys: Keys, word: string): Promise<string> {
  const all = await readAll(keys);
  const nowMs = systemClock.nowMs();
  const compared = toComparedName(word);
  const isNamed = ({ name }: ApiKey) => toComparedName(name) === compared;
  const found =
    all.find(({ id }) => id === word) ??
    all.find((key) => isNamed(key) && getStatus(key, nowMs) === "active");
  if (found === undefined) throw new AppError("NOT_FOUND", `there is no active key ${word}`);
  return found.id;
}

function toCells(key: ApiKey, nowMs: number): string[] {
  const { id, prefix, name, scope, status, request_count, last_used_at } = showKey(key, nowMs);
  return [id, prefix, scope, status, String(request_count), last_used_at ?? "never", name];
}
