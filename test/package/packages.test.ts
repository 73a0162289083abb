/** Both packages as `npm pack` builds them, installed in an empty folder without the source of the checkout. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer } from "../support/clickhouse/clickhouse-server.ts";
import { runProgram } from "../support/run-command.ts";

type Manifest = {
  readonly bin: { readonly oddwire: string };
  readonly dependencies: Readonly<Record<string, string>>;
};

const root = fileURLToPath(new URL("../../", import.meta.url));
let folder = "";
let modules = "";
/** The command as npm links it. */
let command = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "oddwire-package-"));
  modules = join(folder, "node_modules");
  await mkdir(modules);
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await unpack(root, "oddwire");
  await unpack(join(root, "clients/typescript"), "oddwire-client");
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
  // Dependencies are linked from the checkout, because a test has no registry.
  for (const name of Object.keys(manifest.dependencies)) await linkPackage(name, modules);
  command = join(folder, "oddwire");
  await symlink(join(modules, "oddwire", manifest.bin.oddwire), command);
});
after(() => rm(folder, { recursive: true }));

async function linkPackage(name: string, target: string): Promise<void> {
  await mkdir(dirname(join(target, name)), { recursive: true });
  await symlink(join(root, "node_modules", name), join(target, name));
}

/** Packs a folder and unpacks the tarball where a package manager would. */
async function unpack(source: string, name: string): Promise<void> {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
  execFileSync("npm", ["pack", "--pack-destination", folder], { cwd: source, env, stdio: "pipe" });
  const tarball = (await readdir(folder)).find((file) => file.startsWith(`${name}-0`)) ?? "";
  await mkdir(join(modules, name));
  const target = join(modules, name);
  execFileSync("tar", ["-xzf", join(folder, tarball), "--strip-components=1", "-C", target]);
}

/** Node first in the path, as `npx` has it. */
const PATH = `${dirname(process.execPath)}:${process.env["PATH"]}`;

async function run(words: readonly string[]) {
  return runProgram(command, words, { PATH, ODDWIRE_DATA_DIR: folder });
}

test("the package contains the files it needs to run and nothing else", async () => {
  const files = await readdir(join(modules, "oddwire"));
  const expected = ["LICENSE", "NOTICE", "README.md", "bin", "dist", "package.json"];
  assert.deepEqual(files.toSorted(), expected);
  const built = await readdir(join(modules, "oddwire/dist"), { recursive: true });
  assert.deepEqual(
    built.filter((file) => file.includes(".test.")),
    [],
  );
  // The explorer is bundled when the package is built, so that no request waits for it.
  const explorer = await readdir(join(modules, "oddwire/dist/explorer"));
  const names = explorer.map((name) => name.replace(/-[0-9a-f]{16}\./, "."));
  assert.deepEqual(names.toSorted(), ["explorer.css", "explorer.js", "index.html"]);
});

test("commands run from the package", async () => {
  assert.match((await run(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
  assert.match((await run(["keys", "create", "--init"])).stdout, /^ow_read_\w+\n$/);
});

test("the demo runs once the chain that only it needs is installed", async (t) => {
  const cache = join(folder, "cache");
  const dataDir = join(folder, "demo");
  const env = { PATH, XDG_CACHE_HOME: cache, ODDWIRE_DATA_DIR: dataDir, ODDWIRE_PORT: "0" };
  const { code, stderr } = await runProgram(command, ["demo"], env);
  const install = `npm install --no-save --prefix ${join(cache, "oddwire")} @foundry-rs/anvil@`;
  assert.deepEqual([code, stderr.includes(install)], [1, true], stderr);
  await linkPackage("@foundry-rs/anvil", join(cache, "oddwire/node_modules"));
  const demo = spawn(command, ["demo", "--seed", "1"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(demo, "exit");
  cleanUp(t, async () => {
    demo.kill("SIGTERM");
    await exited;
  });
  let url: string | undefined;
  for await (const line of createInterface({ input: demo.stdout })) {
    url = /^explorer (\S+)/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  assert.equal((await fetch(String(url))).status, 200);
});

/** Starts the service, and stops it after the test. */
async function serve(t: TestContext, env: Readonly<Record<string, string>>) {
  const flags = ["--rpc-url", "http://127.0.0.1:9", "--port", "0"];
  const { HOME, TMPDIR } = process.env;
  const child = spawn(command, ["serve", ...flags], {
    cwd: folder,
    env: { PATH, HOME, TMPDIR, ODDWIRE_LOG_LEVEL: "error", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  cleanUp(t, async () => {
    child.kill("SIGTERM");
    assert.deepEqual((await exited)[0], 0);
  });
  const line = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const welcome = JSON.parse(String(line.value)) as { listening: string; admin_key: string };
  return { url: welcome.listening, key: welcome.admin_key, pid: child.pid };
}

test("the service runs from the package, with its threads, its explorer and the client", async (t) => {
  const { url, key, pid } = await serve(t, { ODDWIRE_DATA_DIR: join(folder, "fresh") });
  if (process.platform === "linux") {
    const { MALLOC_ARENA_MAX } = await readEnvironment(pid);
    assert.equal(MALLOC_ARENA_MAX, "2", "the bounds of memory are in force");
  }
  const page = await (await fetch(`${url}/`)).text();
  const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? "";
  assert.equal((await fetch(new URL(script, url))).status, 200);
  const browser = { headers: { accept: "text/html" } };
  assert.equal(await (await fetch(`${url}/nowhere`, browser)).text(), page);
  const list = await fetch(`${url}/v1/trades?format=parquet`, { headers: { "x-api-key": key } });
  assert.deepEqual([list.status, (await list.arrayBuffer()).byteLength > 4], [200, true]);
  const program = `import { OddwireClient } from "oddwire-client";
const client = new OddwireClient({ url: ${JSON.stringify(url)}, key: process.env.NONE });
console.log((await client.health()).status);`;
  await writeFile(join(folder, "use-client.js"), program);
  const used = await runProgram(process.execPath, [join(folder, "use-client.js")]);
  assert.equal(used.stdout, "ok\n", used.stderr);
});

/** Returns the variables that a process was started with. */
async function readEnvironment(pid: number | undefined): Promise<Record<string, string>> {
  const pairs = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0");
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s)));
}

test("an old version of Node is refused in one sentence", async () => {
  const command = join(modules, "oddwire/bin/oddwire.js");
  const pretend = "Object.defineProperty(process.versions, 'node', { value: '20.19.0' })";
  const preload = `data:text/javascript,${encodeURIComponent(pretend)}`;
  const { code, stdout, stderr } = await runProgram(process.execPath, [
    "--import",
    preload,
    command,
    "serve",
  ]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^oddwire needs Node\.js 24 or newer[^\n]+\n$/);
});

/** Hides what npm leaves out with `--omit=optional`: the library of the engine. */
const hideEngine = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module"; registerHooks({ resolve(name, context, next) {
    if (name.startsWith("@chdb/lib-")) throw Object.assign(new Error(name), { code: "MODULE_NOT_FOUND" });
    return next(name, context); } });`)}`;
const withoutEngine = { NODE_OPTIONS: `--import=${hideEngine}`, PATH };

test("a missing engine is one sentence with the platform and a command", async () => {
  const flags = ["serve", "--rpc-url", "http://127.0.0.1:9", "--port", "0"];
  const env = { ...withoutEngine, ODDWIRE_DATA_DIR: join(folder, "none") };
  const { code, stderr } = await runProgram(command, flags, env);
  const sentence = /the embedded engine is not installed for \w+-\w+: run npm install [^\n]+\n$/;
  assert.match(stderr, sentence);
  assert.equal(code, 2);
});

test("without the engine, a service keeps its facts in a ClickHouse server", async (t) => {
  const database = await ClickHouseServer.open(t);
  const { url, key } = await serve(t, {
    ...withoutEngine,
    ODDWIRE_DATA_DIR: join(folder, "engineless"),
    ODDWIRE_CLICKHOUSE_URL: database.url,
  });
  for (const format of ["json", "csv", "parquet", "arrow"]) {
    const list = await fetch(`${url}/v1/trades?format=${format}`, {
      headers: { "x-api-key": key },
    });
    assert.equal(list.status, 200, format);
    await list.arrayBuffer();
  }
});

/** Compiles only if every name in the client's README is exported, and optional values accept `undefined`. */
const consumer = `
import { OddwireClient, OddwireError, type ChannelRequest, type StreamFrame, type Trade } from "oddwire-client";
export async function follow(key: string | undefined, signal: AbortSignal | undefined) {
  const client = new OddwireClient({ url: "http://127.0.0.1:8080", key });
  for await (const frame of client.stream({ channel: { type: "trades" }, signal })) {
    if (frame.type === "event") { const trade: Trade = frame.data; console.log(trade.price); }
    if (frame.type === "reorg") console.log(frame.reverted);
  }
  for await (const trade of client.trades({ wallet: key })) console.log(trade.size);
  for await (const frame of client.stream({ channel: { type: "candles", token_id: "1", resolution: "1m" } }))
    if (frame.type === "snapshot") for (const candle of frame.data) console.log(candle.close);
  for await (const frame of client.stream({ channel: { type: "orderbook", token_id: "1" } }))
    if (frame.type === "event" && frame.event === "book_stale") console.log(frame.data.stale_reason);
}
type IsTaken<Request> = Request extends ChannelRequest ? true : false;
export const taken: [IsTaken<{ type: "trades" }>, IsTaken<{ type: "candles" }>] = [true, false];
export type Frames = StreamFrame<Trade>;
export const isOurs = (thrown: unknown) => thrown instanceof OddwireError && thrown.code;
`;

test("the types of the client are found, and strict programs compile with them", async () => {
  await writeFile(join(folder, "consumer.ts"), consumer);
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "nodenext"];
  const lib = ["--lib", "es2024,dom", "--types", ""];
  const options = [compiler, ...strict, ...lib, "consumer.ts"];
  execFileSync(process.execPath, options, { cwd: folder, stdio: "pipe" });
  const files = await readdir(join(modules, "oddwire-client"), { recursive: true });
  for (const file of ["LICENSE", "README.md", "examples"]) assert(files.includes(file), file);
  // TypeScript's older way to find modules, the default for CommonJS before version 6, ignores `exports`.
  const manifest = await readFile(join(modules, "oddwire-client/package.json"), "utf8");
  const { main, types } = JSON.parse(manifest) as Readonly<Record<"main" | "types", string>>;
  for (const path of [main, types]) assert(files.includes(join(path)), path);
});
