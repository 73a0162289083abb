import { type ApiKey, type KeyPosition, type Keys, statusOf } from "../../access/api-key.ts";
import { type Scope, scopes } from "../../access/key-format.ts";
import { AppError } from "../../base/errors.ts";
import { isIpRange } from "../../base/ip-address.ts";
import { systemClock } from "../../base/time/clock.ts";
import { formatTable } from "../client/format-table.ts";
import { type Command, exitCodes, UsageError } from "../command.ts";
import { withAccess } from "./with-access.ts";

const keyArgument = { name: "KEY" };
const whichKey = "KEY is an id, or the name of an active key, as oddwire keys list shows them.";
const pageKeys = 1000;
const graceSecondsMax = 86_400;

const createKey: Command = {
  name: "keys create",
  summary: "Print the value of a new API key, once",
  details: "It works immediately, also in a running service of the same ODDWIRE_DATA_DIR.",
  options: {
    scope: { value: "SCOPE", choices: scopes, description: "What it may do (default read)" },
    name: { value: "NAME", description: "How it is listed (default made up)" },
    expires: { value: "TIME", description: "When it ends, such as 2027-01-31 or an RFC 3339 time" },
    ips: { value: "RANGES", description: "A comma list of addresses and ranges it works from" },
  },
  examples: [
    "oddwire keys create --scope admin",
    "oddwire keys create --name reports --expires 2027-01-31 --ips 10.0.0.0/8",
  ],
  run: (words) =>
    withAccess(async ({ keys }) => {
      const scope = (words.text("scope") ?? "read") as Scope;
      const nowMs = systemClock.nowMs();
      const made = await keys.create({
        name: words.text("name") ?? `${scope} ${new Date(nowMs).toISOString()}`,
        scope,
        expiresAtMs: readExpiry(words.text("expires"), nowMs),
        allowedIps: readRanges(words.text("ips")),
      });
      return print(`${made.value}\n`);
    }),
};

const listKeys: Command = {
  name: "keys list",
  summary: "List the API keys, the newest first",
  details: "Values cannot be shown: only a keyed hash of them is kept.",
  options: {
    all: { description: "Expired and revoked ones too" },
    json: { description: "One JSON object a line" },
  },
  examples: ["oddwire keys list", "oddwire keys list --all --json"],
  run: (words) =>
    withAccess(async ({ keys }) => {
      const nowMs = systemClock.nowMs();
      const all = await readAll(keys);
      const shown = words.isOn("all")
        ? all
        : all.filter((key) => statusOf(key, nowMs) === "active");
      if (words.isOn("json"))
        return print(shown.map((key) => `${JSON.stringify(factsOf(key, nowMs))}\n`).join(""));
      const heads = ["ID", "PREFIX", "SCOPE", "STATUS", "REQUESTS", "LAST USED", "NAME"];
      return print(formatTable([heads, ...shown.map((key) => cellsOf(key, nowMs))]));
    }),
};

const rotateKey: Command = {
  name: "keys rotate",
  summary: "Print a new value for a key; the old one ends",
  details: whichKey,
  argument: keyArgument,
  options: {
    grace: { value: "SECONDS", description: "How long the old value works on (default 0)" },
  },
  examples: ["oddwire keys rotate reports --grace 3600"],
  run: (words) =>
    withAccess(async ({ keys }) => {
      const grace = Number(words.text("grace") ?? 0);
      if (!Number.isInteger(grace) || grace < 0 || grace > graceSecondsMax)
        throw new UsageError(`--grace is a number of seconds up to ${graceSecondsMax}`);
      const { value } = await keys.rotate(await idOf(keys, words.argument), grace * 1000);
      return print(`${value}\n`);
    }),
};

const revokeKey: Command = {
  name: "keys revoke",
  summary: "End an API key, immediately and for good",
  details: whichKey,
  argument: keyArgument,
  options: {},
  examples: ["oddwire keys revoke reports"],
  run: (words) =>
    withAccess(async ({ keys }) => {
      await keys.revoke(await idOf(keys, words.argument));
      return print("Key revoked\n");
    }),
};

/** What can be done with API keys without the service, or next to it. */
export const keyCommands: readonly Command[] = [createKey, listKeys, rotateKey, revokeKey];

function print(text: string): number {
  process.stdout.write(text);
  return exitCodes.done;
}

function readExpiry(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  const timeMs = /^\d{4}-\d\d-\d\d(?:T\S+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs)) throw new UsageError("--expires is a date or an RFC 3339 time");
  if (timeMs <= nowMs) throw new UsageError("--expires lies in the past");
  return timeMs;
}

function readRanges(text: string | null): readonly string[] {
  const ranges = text === null ? [] : text.split(",").map((range) => range.trim());
  const wrong = ranges.find((range) => !isIpRange(range));
  if (wrong !== undefined) throw new UsageError(`--ips: ${wrong} is no address and no range`);
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

/** Names are unique among active keys only, and may look like anything: an id goes first. */
async function idOf(keys: Keys, word: string | null): Promise<string> {
  const all = await readAll(keys);
  const nowMs = systemClock.nowMs();
  const found =
    all.find(({ id }) => id === word) ??
    all.find((key) => key.name === word && statusOf(key, nowMs) === "active");
  if (found === undefined)
    throw new AppError("NOT_FOUND", { publicMessage: `there is no active key ${word}` });
  return found.id;
}

function factsOf(key: ApiKey, nowMs: number) {
  return {
    id: key.id,
    prefix: key.prefix,
    name: key.name,
    scope: key.scope,
    status: statusOf(key, nowMs),
    allowed_ips: key.allowedIps,
    created_at: timeOf(key.createdAtMs),
    expires_at: timeOf(key.expiresAtMs),
    last_used_at: timeOf(key.lastUsedAtMs),
    request_count: key.requestCount,
  };
}

function cellsOf(key: ApiKey, nowMs: number): string[] {
  const { id, prefix, name, scope, requestCount, lastUsedAtMs } = key;
  const used = timeOf(lastUsedAtMs) ?? "never";
  return [id, prefix, scope, statusOf(key, nowMs), String(requestCount), used, name];
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
