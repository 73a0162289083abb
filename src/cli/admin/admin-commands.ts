import { type Command, Option } from "commander";
import { scopes } from "../../access/key-format.ts";
import { addExamples, lazily } from "../command.ts";
import { settingFlags } from "../service/setting-flags.ts";

const whichKey = "id, or name of an active key, as `oddwire keys list` shows them";

/** Adds the commands for API keys and blocked IP addresses. They need no running service, and may run next to one. */
export function addAdminCommands(program: Command): void {
  addKeyCommands(program);
  addIpCommands(program);
}

function addKeyCommands(program: Command): void {
  const keys = program.command("keys").summary("manage API keys").description("Manages API keys.");
  const create = keys
    .command("create")
    .summary("create an API key and print it once")
    .description(
      "Creates an API key and prints it. It works immediately, also in a running service with the same data directory.",
    )
    .addOption(new Option("--scope <scope>", "what the key may do (default: read)").choices(scopes))
    .option("--name <name>", "name in lists (default: scope and time)")
    .option("--expires <time>", "when it expires: a date or an RFC 3339 time")
    .option("--init", "create the data directory if no service was started there")
    .option("--ips <ranges>", "comma-separated IP addresses and CIDR ranges it works from")
    .action(lazily(async () => (await import("./admin-actions.ts")).createKey));
  addExamples(create, [
    "oddwire keys create --scope admin",
    "oddwire keys create --name reports --expires 2027-01-31 --ips 10.0.0.0/8",
  ]);
  const list = keys
    .command("list")
    .summary("list API keys, newest first")
    .description("Lists API keys, newest first. Only a keyed hash of each key is stored.")
    .option("--all", "include expired and revoked keys")
    .option("--json", "print one JSON object per line")
    .action(lazily(async () => (await import("./admin-actions.ts")).listKeys));
  addExamples(list, ["oddwire keys list", "oddwire keys list --all --json"]);
  const rotate = keys
    .command("rotate")
    .summary("issue a new secret for a key")
    .description("Issues a new secret for a key, prints it, and invalidates the old one.")
    .argument("<key>", whichKey)
    .option("--grace <seconds>", "how long the old secret keeps working (default: 0)")
    .action(lazily(async () => (await import("./admin-actions.ts")).rotateKey));
  addExamples(rotate, ["oddwire keys rotate reports --grace 3600"]);
  const revoke = keys
    .command("revoke")
    .summary("revoke a key, immediately and for good")
    .description("Revokes a key, immediately and for good. Its streams are closed.")
    .argument("<key>", whichKey)
    .action(lazily(async () => (await import("./admin-actions.ts")).revokeKey));
  addExamples(revoke, ["oddwire keys revoke reports"]);
  addFolderFlag(create, list, rotate, revoke);
}

function addIpCommands(program: Command): void {
  const ips = program
    .command("ips")
    .summary("manage blocked IP addresses")
    .description("Manages IP addresses that are blocked after failed authentications.");
  const list = ips
    .command("list")
    .summary("list blocked IP addresses, newest first")
    .description("Lists blocked IP addresses. A running service saves new blocks every 5 seconds.")
    .option("--json", "print one JSON object per line")
    .action(lazily(async () => (await import("./admin-actions.ts")).listIps));
  addExamples(list, ["oddwire ips list"]);
  const unblock = ips
    .command("unblock")
    .summary("unblock an IP address immediately")
    .description("Unblocks an IP address. Any address of a blocked IPv6 /64 stands for its block.")
    .argument("<ip>", "IP address")
    .action(lazily(async () => (await import("./admin-actions.ts")).unblockIp));
  addExamples(unblock, ["oddwire ips unblock 203.0.113.7", "oddwire ips unblock 2001:db8::/64"]);
  addFolderFlag(list, unblock);
}

function addFolderFlag(...commands: readonly Command[]): void {
  for (const command of commands)
    for (const option of settingFlags(["data-dir"])) command.addOption(option);
}
