/** The commands, run as from a shell. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { parseKey } from "../../src/access/key-format.ts";
import { buildProgram, everyCommand } from "../../src/cli/program.ts";
import { cleanUp } from "../support/clean-up.ts";
import { cli } from "../support/cli.ts";
import { runCommand, runProgram } from "../support/run-command.ts";
import { systemSettings } from "../support/system-settings.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "oddwire-commands-"));
});
after(() => rm(folder, { recursive: true }));

function run(line: string) {
  return runCommand(line.split(" ").filter(Boolean), { ODDWIRE_DATA_DIR: folder });
}

async function getOutput(line: string): Promise<string> {
  const { code, stdout, stderr } = await run(line);
  assert.equal(code, 0, stderr);
  return stdout;
}

test("a key is created, listed, rotated and revoked", async () => {
  const made = (
    await getOutput("keys create --init --scope write --name one --ips 10.0.0.0/8")
  ).trim();
  assert.equal(parseKey(made)?.scope, "write");
  const [listed] = (await getOutput("keys list --json")).split("\n");
  const { id, name, status, allowed_ips } = JSON.parse(listed ?? "") as Record<string, unknown>;
  assert.deepEqual([name, status, allowed_ips], ["one", "active", ["10.0.0.0/8"]]);
  const rotated = (await getOutput("keys rotate one --grace 60")).trim();
  assert.notEqual(rotated, made);
  assert.equal(await getOutput(`keys revoke ${String(id)}`), "Key revoked\n");
  assert.equal(await getOutput("keys list --json"), "");
  assert.match(await getOutput("keys list --all"), /write {2}revoked .* one\n$/);
  const again = await run("keys revoke one");
  assert.deepEqual([again.code, again.stdout], [1, ""]);
  assert.equal(again.stderr, "oddwire: there is no active key one\n");
});

test("--data-dir names the folder of keys, of blocked addresses and of checks", async () => {
  const other = await mkdtemp(join(tmpdir(), "oddwire-cli-"));
  const place = ["--data-dir", other];
  const elsewhere = { ODDWIRE_DATA_DIR: join(other, "unused") };
  const run = (...words: string[]) => runCommand([...words, ...place], elsewhere);
  for (const words of ["keys create", "keys rotate x", "keys revoke x", "ips unblock 1.2.3.4"]) {
    const { code, stderr } = await run(...words.split(" "));
    assert.equal(code, 2, words);
    assert.match(stderr, /has no keys, because no service was started there/);
  }
  assert.deepEqual(await readdir(other), [], "nothing is created unless asked");
  assert.equal((await run("keys", "create", "--init", "--name", "there")).code, 0);
  assert.match((await run("keys", "list")).stdout, / there\n$/);
  assert.equal((await run("ips", "list")).stdout, "No IP address is blocked.\n");
  assert.equal((await run("keys", "revoke", "there")).stdout, "Key revoked\n");
  assert.equal(existsSync(join(other, "unused")), false);
  await rm(other, { recursive: true });
});

test("a key is not created locally with the Redis of a cluster and no ClickHouse server", async () => {
  const dataDir = join(folder, "no-server");
  const { code, stdout, stderr } = await runCommand(["keys", "create"], {
    ODDWIRE_DATA_DIR: dataDir,
    ODDWIRE_REDIS_URL: "redis://127.0.0.1:1",
  });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /ODDWIRE_CLICKHOUSE_URL is required with ODDWIRE_REDIS_URL/);
  await assert.rejects(readdir(dataDir), { code: "ENOENT" });
});

test("an error is one sentence, with exit code 2 for wrong usage and 1 for failures", async () => {
  const away = "tail --key ow_read_x --url http://127.0.0.1:1";
  const lines = {
    serv: 2,
    "keys create --expires 2020-01-01": 2,
    "keys create --expires 2099-02-31": 2,
    "keys create --expires 2099-01-31T10:00": 2,
    "keys create --expires 4070908800": 2,
    "keys rotate one --grace=": 2,
    "keys rotate one --grace 1e3": 2,
    "keys create --name=": 2,
    "help nonsense": 2,
    "keys create --scpe read": 2,
    "serve --port x": 2,
    [away]: 1,
    "ips unblock 192.0.2.1": 1,
  };
  for (const [line, expected] of Object.entries(lines)) {
    const { code, stdout, stderr } = await run(line);
    assert.deepEqual([code, stdout], [expected, ""], line);
    if (line.startsWith("serve")) continue;
    assert.match(stderr, /^oddwire: [^\n]+\n$/);
  }
});

test("a command that reads a folder that is missing or empty says so, and makes nothing", async () => {
  const dataDir = join(folder, "unread");
  const settings = { ODDWIRE_DATA_DIR: dataDir, ODDWIRE_RPC_URLS: "http://127.0.0.1:1" };
  const commands = [["check"], ["repair"], ["export", "--lake", join(folder, "lake")]];
  for (const words of commands) {
    const { code, stderr } = await runCommand(words, settings);
    const message = `oddwire: the data directory ${dataDir} does not exist\n`;
    assert.deepEqual([code, stderr, existsSync(dataDir)], [1, message, false]);
  }
  await mkdir(dataDir);
  for (const words of commands) {
    const { code, stderr } = await runCommand(words, settings);
    assert.deepEqual([code, stderr], [1, "oddwire: nothing is stored yet\n"]);
    assert.deepEqual(await readdir(dataDir), []);
  }
});

test("a lake and a store that would share a folder, and options of other exports, are refused", async () => {
  const [data, linked] = [join(folder, "shared"), join(folder, "linked")];
  await symlink(data, linked);
  await mkdir(data);
  const cases: readonly [line: string, code: number, message: RegExp][] = [
    [`export --lake ${data} --data-dir ${data}`, 2, /overlap: give the lake a folder of its own/],
    [`export --lake ${linked}/facts/lake --data-dir ${data}`, 2, /overlap/],
    [`import --lake ${data} --data-dir ${linked}`, 2, /overlap/],
    [`import --lake ${data} --data-dir ${data}/new`, 2, /overlap/],
    [`export --lake ${data} --wallet 0x12`, 2, /give it without --wallet$/],
    [`export --lake ${data} --key-file key`, 2, /give it without --key-file$/],
    [`export trades --out ${data}/a.csv --from 2026-11-01`, 2, /--from needs --lake$/],
    [`import --lake ${data} --data-dir ${folder}/new --allow-private`, 2, /with an address$/],
    [`import --lake ${cli} --data-dir ${folder}/new`, 1, /cli\.[jt]s is not a folder$/],
    [`serve --rpc-url http://127.0.0.1:1 --data-dir ${data}`, 2, /ODDWIRE_DATA_DIR overlap: give/],
  ];
  for (const [line, expected, message] of cases) {
    const settings = line.startsWith("serve") ? { ODDWIRE_LAKE_DIR: linked } : {};
    const { code, stderr } = await runCommand(line.split(" "), settings);
    assert.equal(code, expected, line);
    assert.match(stderr.trimEnd(), message);
  }
  assert.deepEqual(await readdir(data), []);
});

test("oddwire api ends with exit code 0 at SIGTERM while it waits for its database", async (t) => {
  const env = {
    ...systemSettings(),
    ODDWIRE_DATA_DIR: join(folder, "waiting"),
    ODDWIRE_CLICKHOUSE_URL: "http://127.0.0.1:1",
    ODDWIRE_REDIS_URL: "redis://127.0.0.1:1",
    ODDWIRE_HMAC_PEPPER: "p".repeat(32),
    ODDWIRE_PORT: "0",
  };
  const child = spawn(process.execPath, [cli, "api"], { env, stdio: ["ignore", "pipe", "pipe"] });
  cleanUp(t, () => child.kill("SIGKILL"));
  const ended = once(child, "close");
  let logged = "";
  for await (const chunk of child.stderr) {
    logged += String(chunk);
    if (logged.includes("start waits until")) child.kill("SIGTERM");
  }
  assert.deepEqual(await ended, [0, null], logged);
});

test("a process whose ClickHouse server does not respond ends in time after SIGTERM", async (t) => {
  const silent = createServer().listen(0, "127.0.0.1");
  cleanUp(t, () => silent.close());
  await once(silent, "listening");
  const env = {
    ...systemSettings(),
    ODDWIRE_DATA_DIR: join(folder, "silent"),
    ODDWIRE_CLICKHOUSE_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    ODDWIRE_REDIS_URL: "redis://127.0.0.1:1",
    ODDWIRE_HMAC_PEPPER: "p".repeat(32),
    ODDWIRE_PORT: "0",
  };
  const child = spawn(process.execPath, [cli, "api"], { env, stdio: ["ignore", "pipe", "pipe"] });
  cleanUp(t, () => child.kill("SIGKILL"));
  const logged = text(child.stderr);
  const ended = once(child, "close");
  const [socket] = (await once(silent, "connection")) as [Socket];
  cleanUp(t, () => socket.destroy());
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
  assert.match(await logged, /ends without waiting longer for the ClickHouse server/);
});

for (const variable of ["ODDWIRE_PORT", "ODDWIRE_METRICS_PORT"]) {
  test(`a service whose ${variable} is in use reports it and ends with exit code 1`, async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const { code, stderr } = await runCommand(["serve"], {
      ODDWIRE_DATA_DIR: join(folder, variable),
      ODDWIRE_RPC_URLS: "http://127.0.0.1:1",
      ODDWIRE_PORT: "0",
      ODDWIRE_LOG_LEVEL: "silent",
      [variable]: String(port),
    });
    taken.close();
    assert.equal(code, 1, stderr);
    assert.match(
      stderr,
      /^oddwire: port \d+ of 127\.0\.0\.1 is already in use; set another \(--port[^\n]+\n$/,
    );
  });
}

test("a data directory that cannot be created is a configuration error", async () => {
  const path = join(folder, "file");
  await writeFile(path, "");
  for (const words of [["serve"], ["keys", "list"]]) {
    const { code, stderr } = await runCommand(words, {
      ODDWIRE_DATA_DIR: join(path, "data"),
      ODDWIRE_RPC_URLS: "http://127.0.0.1:1",
      ODDWIRE_LOG_LEVEL: "silent",
    });
    assert.equal(code, 2, stderr);
    assert.match(stderr, /^oddwire: .*\n {2}- ODDWIRE_DATA_DIR cannot be used: [^\n]+\n$/);
  }
});

test("repair refuses a cluster, and says what to do instead", async () => {
  const { code, stdout, stderr } = await runCommand(["repair"], {
    ODDWIRE_DATA_DIR: join(folder, "cluster"),
    ODDWIRE_RPC_URLS: "http://127.0.0.1:1",
    ODDWIRE_CLICKHOUSE_URL: "http://127.0.0.1:1",
    ODDWIRE_CLICKHOUSE_CLUSTER: "oddwire",
  });
  assert.deepEqual([code, stdout], [2, ""], stderr);
  assert.match(
    stderr,
    /ODDWIRE_CLICKHOUSE_CLUSTER is oddwire: a ClickHouse cluster cannot be repaired .*index again/,
  );
});

test("a full disk behind standard output is reported in one sentence, and a closed pipe is no failure", () => {
  const command = `"${process.execPath}" "${cli}" help`;
  const shell = (line: string) => spawnSync("bash", ["-c", line], { encoding: "utf8" });
  const full = shell(`${command} > /dev/full`);
  assert.equal(full.status, 75, full.stderr);
  assert.match(full.stderr, /^oddwire: standard output cannot be written: ENOSPC: [^\n]*\n$/);
  const closed = shell(`${command} | true; exit "\${PIPESTATUS[0]}"`);
  assert.deepEqual([closed.status, closed.stderr], [0, ""]);
});

test("a command whose output exists nowhere else fails when it cannot be printed", async () => {
  const run = async (line: string) => runProgram("bash", ["-c", line], {});
  const data = await mkdtemp(join(tmpdir(), "oddwire-keys-"));
  const keys = `"${process.execPath}" "${cli}" keys`;
  try {
    const made = await run(`${keys} create --init --name kept --data-dir "${data}"`);
    assert.equal(made.code, 0, made.stderr);
    for (const [words, redirection] of [
      ["create --name one", "| true"],
      ["create --name two", "> /dev/full"],
      ["rotate kept", "| true"],
    ] as const) {
      const line = `${keys} ${words} --data-dir "${data}" ${redirection}; exit \${PIPESTATUS[0]}`;
      const { code, stderr } = await run(line);
      assert.notEqual(code, 0, words);
      assert.match(
        stderr,
        /the key could not be printed and is lost; `oddwire keys revoke \S+` removes it/,
      );
    }
  } finally {
    await rm(data, { recursive: true });
  }
});

test("help shows every command, its options and examples, without colors in a pipe", async () => {
  const overview = await getOutput("help");
  const names = buildProgram().commands.map((command) => command.name());
  for (const name of names.filter((one) => one !== "complete"))
    assert.match(overview, new RegExp(`^  ${name}\\b`, "m"));
  assert.equal(overview.includes("\u001b"), false);
  assert.equal(await getOutput(""), overview);
  const help = await getOutput("keys create --help");
  assert.match(help, /--scope <scope> [^]*"read",\s+"write",\s+"admin"/);
  assert.match(await getOutput("help keys"), /^ {2}create /m);
  assert.equal(await getOutput("keys --help"), await getOutput("help keys"));
});

test("every command without subcommands has examples that use it", () => {
  const leaves = everyCommand(buildProgram()).filter(({ commands }) => commands.length === 0);
  const ours = leaves.filter((command) => !command.name().startsWith("complet"));
  assert(ours.length > 12);
  for (const command of ours) {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    const [, examples = ""] = help.split("Examples:\n");
    const parent = command.parent?.name() === "oddwire" ? "" : `${command.parent?.name()} `;
    const lines = examples.trimEnd().split("\n");
    for (const line of lines) assert(line.includes(`oddwire ${parent}${command.name()}`), help);
  }
});

test("client commands read their settings from the environment, and flags take precedence", async () => {
  const settings = { ODDWIRE_URL: "http://127.0.0.1:2", ODDWIRE_API_KEY: "ow_read_x" };
  const { code, stderr } = await runCommand(["tail"], settings);
  assert.equal(code, 1);
  assert.match(stderr, /cannot be reached: .*127\.0\.0\.1:2/);
  const other = await runCommand(["tail", "--url", "http://127.0.0.1:3"], settings);
  assert.match(other.stderr, /cannot be reached: .*127\.0\.0\.1:3/);
  const keyless = await runCommand(["tail"]);
  assert.match(keyless.stderr, /an API key is required: --key, --key-file or ODDWIRE_API_KEY/);
});

test("a key that no header can carry, and a URL with a user name, are wrong usage", async () => {
  const keyFile = join(folder, "two-keys");
  await writeFile(keyFile, "ow_read_x\now_read_y\n");
  const cases: [string[], RegExp][] = [
    [["--key", "клюш"], /an API key is one word of ASCII characters/],
    [["--key-file", keyFile], /an API key is one word of ASCII characters/],
    [
      ["--key", "ow_read_x", "--url", "http://me:secret@127.0.0.1:2"],
      /--url is an http or https address without a user name/,
    ],
  ];
  for (const [words, message] of cases) {
    const { code, stderr } = await runCommand(["tail", ...words]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
    assert.equal(stderr.includes("secret"), false);
  }
});
